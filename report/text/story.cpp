// SPDX-License-Identifier: Apache-2.0
#include "report/text/story.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/text/cell.h"
#include "report/text/source_lines.h"
#include "report/text/stacks.h"
#include "report/text/verdict.h"
#include "trace/counts.h"

namespace heddle::report {
namespace {

std::string counted(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : what.ends_with('h') ? "es" : "s");
}

std::string figures(const trace::Trace& trace, const Style& style) {
  std::string dot = fmt::format(" {} ", style.glyphs().middle_dot);
  std::string text = printable(trace.header.program, style.unicode);
  text += dot + counted(trace::acting_threads(trace), "thread");
  text += dot + counted(trace.events.size(), "event");
  text += dot + counted(trace::context_switches(trace), "context switch");
  if (!trace.complete) text += dot + "the trace is cut off";
  return text;
}

/// What is not told, in words.
std::string hidden_events(const std::vector<bool>& shown) {
  const auto count = static_cast<std::uint64_t>(std::count(shown.begin(), shown.end(), false));
  if (count == 0) return "";
  return fmt::format("{} that the failure has nothing to do with {} hidden; --all-events shows {}",
                     counted(count, "event"), count == 1 ? "is" : "are",
                     count == 1 ? "it" : "them");
}

}  // namespace

std::string story(const trace::Trace& trace, const StoryOptions& options) {
  Style style{options.colour, options.unicode};
  std::string out;
  auto paragraph = [&](const std::string& text, std::size_t indent, Paint paint) {
    std::size_t width = options.width > indent + 20 ? options.width - indent : 20;
    for (const std::string& line : wrapped(text, width))
      out += std::string(indent, ' ') + style.paint(paint, line) + '\n';
  };

  bool failed = trace.outcome.failed();
  std::vector<std::string> head = headline(trace, style);
  paragraph(head.front(), 2, failed ? Paint::Failure : Paint::Good);
  // The sign of failure takes the place of the indentation.
  if (failed) out.replace(0, 1, style.paint(Paint::Failure, style.glyphs().fails));
  for (std::size_t i = 1; i < head.size(); ++i) paragraph(head[i], 2, Paint::Plain);
  paragraph(figures(trace, style), 2, Paint::Dim);

  SourceLine source = options.source_line ? options.source_line : SourceLine(SourceLines());
  std::string lanes =
      timeline(trace, {style, options.width, options.events, source, options.shown});
  if (!lanes.empty()) out += '\n' + lanes;
  const std::string hidden = hidden_events(options.shown);
  if (!hidden.empty()) out += '\n';
  if (!hidden.empty()) paragraph(hidden, 2, Paint::Dim);

  std::vector<std::string> sentences = explanation(trace, style);
  if (!sentences.empty()) out += '\n';
  for (const std::string& sentence : sentences) paragraph(sentence, 2, Paint::Plain);

  const std::vector<std::string> stacks = stack_lines(trace, style);
  if (!stacks.empty()) out += "\n  The threads were at:\n";
  for (const std::string& line : stacks) paragraph(line, 4, Paint::Dim);
  return out;
}

}  // namespace heddle::report
