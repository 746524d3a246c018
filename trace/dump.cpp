// SPDX-License-Identifier: Apache-2.0
#include "trace/dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "abi/names.h"
#include "trace/words.h"

namespace heddle::trace {
namespace {

const char* object_kind_name(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::Static: return "static";
    case ObjectKind::Heap: return "heap";
    case ObjectKind::Stack: return "stack";
    case ObjectKind::Unknown: return "unknown";
  }
  return "unknown";
}

void dump_tables(const Trace& trace, std::string& out) {
  auto line = std::back_inserter(out);
  fmt::format_to(line, "program {}\nbuild-id {}\n", trace.header.program, trace.header.build_id);
  for (const auto& [name, value] : trace.header.options)
    fmt::format_to(line, "option {} = {}\n", name, value);
  for (const Thread& thread : trace.threads) fmt::format_to(line, "thread {}\n", thread.path);
  for (const Object& object : trace.objects)
    fmt::format_to(line, "object {}: {}, {} bytes\n", object.name, object_kind_name(object.kind),
                   object.size);
  for (const Site& site : trace.sites) {
    fmt::format_to(line, "site {}", site.key);
    if (!site.callee.empty()) fmt::format_to(line, " calls {}", site.callee);
    const char* separator = ":";
    for (const Frame& frame : site.frames) {
      fmt::format_to(line, "{} {}:{}:{} ({})", separator, frame.file, frame.line, frame.column,
                     frame.function);
      separator = " inlined in";
    }
    out += '\n';
  }
}

void dump_outcome(const Trace& trace, std::string& out) {
  const Outcome& outcome = trace.outcome;
  auto line = std::back_inserter(out);
  fmt::format_to(line, "outcome {}: {}\n", abi::name_of(outcome.kind),
                 abi::sentence_of(outcome.kind));
  fmt::format_to(line, "exit code {}, signal {}\n", outcome.exit_code, outcome.signal);
  if (outcome.thread != kNone)
    fmt::format_to(line, "in thread {}\n", thread_name(trace, outcome.thread));
  if (outcome.site != kNone)
    fmt::format_to(line, "at site {}\n", place_and_function(trace, outcome.site));
  if (outcome.related_site != kNone)
    fmt::format_to(line, "freed at {}\n", place_and_function(trace, outcome.related_site));
  if (!outcome.file.empty())
    fmt::format_to(line, "at {}:{} ({})\n", outcome.file, outcome.line, outcome.function);
  if (!outcome.message.empty()) fmt::format_to(line, "message {}\n", outcome.message);
  for (const Wait& wait : outcome.waits) fmt::format_to(line, "{}\n", describe(trace, wait));
  for (const Stack& stack : trace.stacks) {
    fmt::format_to(line, "stack of {}:", thread_name(trace, stack.thread));
    const char* separator = "";
    for (const Frame& frame : stack.frames) {
      fmt::format_to(line, "{} {}:{}:{} ({})", separator, frame.file, frame.line, frame.column,
                     frame.function);
      separator = " called from";
    }
    out += stack.is_whole ? "\n" : " ...\n";
  }
  fmt::format_to(line, "signature {}\n", signature(trace));
}

/// The steps taken before the event with index `event`, from `next` on; they have no number.
void dump_steps(const Trace& trace, std::size_t& next, std::size_t event, std::size_t digits,
                std::size_t widest, std::string& out) {
  for (; next < trace.steps.size() && trace.steps[next].event <= event; ++next) {
    const Step& step = trace.steps[next];
    fmt::format_to(std::back_inserter(out), "{:>{}} {:<{}} {} at {}\n", "", digits,
                   thread_name(trace, step.thread), widest, describe(step),
                   place_and_function(trace, step.site));
  }
}

}  // namespace

std::string dump(const Trace& trace) {
  std::string out;
  dump_tables(trace, out);
  std::size_t widest = 0;
  for (const Thread& thread : trace.threads) widest = std::max(widest, thread.path.size());
  std::size_t digits = std::to_string(trace.events.size()).size();
  std::size_t step = 0;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    dump_steps(trace, step, i, digits, widest, out);
    const Event& event = trace.events[i];
    std::string what = describe(trace, event);
    std::string where = event.site == kNone ? "" : place_and_function(trace, event.site);
    fmt::format_to(std::back_inserter(out), "{:>{}} {:<{}} {}{}{}\n", i, digits,
                   thread_name(trace, event.thread), widest, what, where.empty() ? "" : " at ",
                   where);
  }
  dump_steps(trace, step, trace.events.size(), digits, widest, out);
  if (trace.steps_lost != 0)
    fmt::format_to(std::back_inserter(out), "{} further steps were not recorded\n",
                   trace.steps_lost);
  dump_outcome(trace, out);
  if (!trace.complete) out += "incomplete: the file was cut off\n";
  return out;
}

}  // namespace heddle::trace
