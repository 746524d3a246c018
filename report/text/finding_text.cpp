// SPDX-License-Identifier: Apache-2.0
#include "report/text/finding_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/text/phrases.h"
#include "report/text/source_lines.h"
#include "trace/words.h"

namespace heddle::report {
namespace {

using analysis::BugClass;
using analysis::FoundAccess;

constexpr std::size_t kEventsBefore = 2;  // the parting of two runs
constexpr std::size_t kEventsAfter = 6;

const char* const kShapes[] = {"",
                               "write before read",
                               "read before write",
                               "write before write",
                               "W-W-R",
                               "R-W-W",
                               "R-W-R",
                               "W-R-W",
                               "R x, W y | W x, R y",
                               "R x, W y | R y, W x",
                               "W x, W y | R x, R y",
                               "W x, W y | W x, R y",
                               "W x, W y | W x, W y",
                               "W x, W y | R y, R x",
                               "W x, W y | R y, W x",
                               "W x, W y | W y, W x"};

std::string place(const FoundAccess& access) {
  if (access.frame.file.empty()) return access.point.site;
  return fmt::format("{}:{}", trace::base_name(access.frame.file), access.frame.line);
}

/// " in iteration 2 of a.c:10, 7 of a.c:12".
std::string rounds(const FoundAccess& access) {
  std::string text;
  for (const analysis::FoundLoop& loop : access.loops) {
    text += text.empty() ? " in iteration " : ", ";
    text += std::to_string(loop.iteration);
    if (loop.frame.file.empty()) continue;
    text += fmt::format(" of {}:{}", trace::base_name(loop.frame.file), loop.frame.line);
  }
  return text;
}

/// " in main, worker, put": more than the function that has the place.
std::string context(const FoundAccess& access) {
  if (access.context.size() < 2) return "";
  std::string text;
  for (const trace::Frame& function : access.context) {
    text += (text.empty() ? " in " : ", ") + function.function;
  }
  return text;
}

std::string side(const FoundAccess& access, SourceLines& sources, const Style& style) {
  std::string source = sources(access.frame.file, access.frame.line);
  const std::size_t comment = source.find("//");
  if (comment != std::string::npos) source.erase(comment);
  source.erase(0, source.find_first_not_of(" \t"));
  source.erase(source.find_last_not_of(" \t") + 1);
  return fmt::format(
      "{:<7} {:<9} {}{}{}{}{}", access.thread, deed(access.role),
      style.paint(Paint::Place, place(access)),
      access.frame.function.empty() ? "" : fmt::format(" ({})", access.frame.function),
      context(access), rounds(access),
      source.empty() ? "" : "  " + style.paint(Paint::Dim, source));
}

}  // namespace

std::string deed(const std::string& role) {
  if (role == "R") return "reads";
  if (role == "W") return "writes";
  if (role == "RW") return "updates";
  if (role == "lock") return "locks";
  if (role == "wait") return "waits for";
  if (role == "signal") return "signals";
  if (role == "woken") return "is woken";
  if (role == "free") return "frees";
  if (role == "destroy") return "destroys";
  return "uses";
}

std::string headline_of(const analysis::Finding& finding) {
  std::string name;
  switch (finding.bug_class) {
    case BugClass::OrderViolation: name = "order violation"; break;
    case BugClass::AtomicityViolation: name = "atomicity violation"; break;
    case BugClass::MultiVariableAtomicityViolation:
      name = "atomicity violation over two variables";
      break;
    case BugClass::Deadlock: return "deadlock: locks taken in opposite orders";
    case BugClass::MissedNotification: return "missed notification";
    case BugClass::MemoryOrderViolation: return "relaxed memory: a store is seen too late";
  }
  if (finding.shape)
    name += fmt::format(", {} (shape {})", kShapes[*finding.shape], *finding.shape);
  return name;
}

std::string sentence_of(const analysis::Finding& finding) {
  if (finding.pairs.empty()) return headline_of(finding) + ".";
  const analysis::FoundPair& pair = finding.pairs.front();
  switch (finding.bug_class) {
    case BugClass::OrderViolation:
      return fmt::format("Probably meant: {} ({}) before {} ({}).", place(pair.second),
                         pair.second.thread, place(pair.first), pair.first.thread);
    case BugClass::AtomicityViolation:
    case BugClass::MultiVariableAtomicityViolation: {
      std::string text;
      for (const analysis::Region& region : finding.regions) {
        text += fmt::format("{}{} to {} of {}", text.empty() ? "" : "; and ", place(region.first),
                            place(region.last), region.first.thread);
      }
      return text.empty() ? headline_of(finding) + "."
                          : "Probably meant to be one step: " + text + ".";
    }
    case BugClass::Deadlock: return "Probably meant: all threads take these locks in one order.";
    case BugClass::MissedNotification:
      return "Probably meant: the test of the condition and the wait are one step with respect to "
             "the notification.";
    case BugClass::MemoryOrderViolation:
      return fmt::format(
          "Probably meant: the store is visible before the thread goes on; a "
          "stronger memory order or a fence at {}.",
          place(pair.first.role == "R" ? pair.second : pair.first));
  }
  return {};
}

std::string finding_text(const analysis::Finding& finding, const Style& style) {
  SourceLines sources;
  std::string text = fmt::format(
      "{} {}{}\n", style.paint(Paint::Bold, fmt::format("{}.", finding.rank)),
      style.paint(finding.confirmed ? Paint::Failure : Paint::Bold, headline_of(finding)),
      finding.confirmed ? style.paint(Paint::Good, "  confirmed") : "  not confirmed");
  for (const analysis::FoundPair& pair : finding.pairs) {
    text += fmt::format("   {}{}\n", style.paint(Paint::Bold, pair.variable),
                        !pair.in_failed_run ? "  (the run ended before the second access)"
                        : !pair.suspicious  ? "  (needed too)"
                                            : "");
    text += "     " + side(pair.first, sources, style) + "\n";
    text += fmt::format("  {}  {}\n", style.glyphs().becomes, side(pair.second, sources, style));
  }
  text += "   " + sentence_of(finding) + "\n";
  if (finding.confirmed) {
    text += fmt::format(
        "   Turned round, the failure goes away ({} of {}); forced on passing runs, it follows "
        "({} of {}).\n",
        finding.forbidden.held, finding.forbidden.possible, finding.enforced.held,
        finding.enforced.possible);
  }
  return text;
}

std::string account_text(const analysis::Localisation& localisation, const Style&) {
  std::string text = fmt::format(
      "{} passing runs, {} different pairs{}; {} executions in all.\n", localisation.passing_runs,
      localisation.curve.empty() ? 0 : localisation.curve.back(),
      localisation.saturated ? ", saturated" : "", localisation.executions);
  if (!localisation.curve.empty()) {
    text += "Pairs known after 1, 2, 4, 8 ... runs:";
    for (std::size_t i = 1; i <= localisation.curve.size(); i *= 2) {
      text += fmt::format(" {}", localisation.curve[i - 1]);
    }
    text += "\n";
  }
  for (const auto& [signature, count] : localisation.other_failures) {
    text += fmt::format("Another failure, kept apart: {} ({} times)\n", signature, count);
  }
  return text;
}

std::string comparison_text(const analysis::Localisation& localisation, const Style& style) {
  if (!localisation.nearest) return {};
  const auto lines = [&](const trace::Trace& trace) {
    std::vector<std::string> result;
    Phrases phrases(trace, style);
    const std::size_t from =
        localisation.common_events - std::min(localisation.common_events, kEventsBefore);
    const std::size_t to = std::min(trace.events.size(), localisation.common_events + kEventsAfter);
    for (std::size_t i = 0; i < to; ++i) {
      if (i < from) {
        phrases.skip(trace.events[i]);
        continue;
      }
      std::string line = fmt::format("{} {}", trace.threads[trace.events[i].thread].path,
                                     phrases.tell(trace.events[i]));
      if (line.size() > 44) line = line.substr(0, 41) + "...";
      result.push_back(std::move(line));
    }
    return result;
  };
  const std::vector<std::string> failed = lines(localisation.failed.trace);
  const std::vector<std::string> passed = lines(localisation.nearest->trace);
  std::string text =
      fmt::format("The nearest passing run is the same for {} events, then:\n  {:<46}{}\n",
                  localisation.common_events, "fails", "passes");
  for (std::size_t i = 0; i < std::max(failed.size(), passed.size()); ++i) {
    text += fmt::format("  {:<46}{}\n", i < failed.size() ? failed[i] : "",
                        i < passed.size() ? passed[i] : "");
  }
  return text;
}

}  // namespace heddle::report
