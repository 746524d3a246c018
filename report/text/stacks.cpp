// SPDX-License-Identifier: Apache-2.0
#include "report/text/stacks.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/text/cell.h"
#include "report/text/entries.h"
#include "trace/words.h"

namespace heddle::report {
namespace {

/// The innermost calls tell what a thread was doing; a recursion would fill the page.
constexpr std::size_t kMostFrames = 8;

std::string calls(const trace::Stack& stack) {
  std::string line;
  std::size_t shown = 0;
  std::size_t left_out = 0;
  for (const trace::Frame& frame : stack.frames) {
    if (frame.line == 0) continue;
    if (shown == kMostFrames) {
      ++left_out;
      continue;
    }
    line += fmt::format("{}{} {}:{}", shown == 0 ? "" : " < ", short_function(frame.function),
                        trace::base_name(frame.file), frame.line);
    ++shown;
  }
  if (left_out != 0) line += fmt::format(" < {} more", left_out);
  if (!stack.is_whole) line += " < ...";
  return line.empty() ? "has not begun" : line;
}

}  // namespace

std::vector<std::string> stack_lines(const trace::Trace& trace, const Style& style) {
  std::vector<std::string> lines;
  std::size_t widest = 0;
  for (const trace::Stack& stack : trace.stacks) {
    widest = std::max(widest, trace::thread_name(trace, stack.thread).size());
  }
  for (const trace::Stack& stack : trace.stacks) {
    lines.push_back(printable(
        fmt::format("{:<{}}  {}", trace::thread_name(trace, stack.thread), widest, calls(stack)),
        style.unicode));
  }
  return lines;
}

}  // namespace heddle::report
