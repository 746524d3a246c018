// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "base/error.h"
#include "cli/command.h"
#include "cli/run_options.h"
#include "cli/sliced_run.h"
#include "cli/terminal.h"
#include "store/store.h"
#include "trace/words.h"

namespace heddle::cli {
namespace {

struct SliceFlags {
  std::string run = "latest";
  std::optional<std::uint64_t> at;
  std::optional<std::uint64_t> window;
  bool whole_threads = false;
  bool code_only = false;
};

SliceWish wish_of(const SliceFlags& flags) {
  if (flags.whole_threads && flags.code_only) {
    throw user_error("--whole-threads and --static are two kinds of slices: give one of them");
  }
  const Within most = flags.whole_threads ? Within::WholeThreads
                      : flags.code_only   ? Within::Code
                                          : Within::Instructions;
  return {flags.at, most, flags.window};
}

nlohmann::json numbers_of(const std::vector<bool>& events) {
  nlohmann::json numbers = nlohmann::json::array();
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i]) numbers.push_back(i);
  }
  return numbers;
}

nlohmann::json to_json(const SlicedRun& sliced, const trace::Trace& trace, const store::RunId& run,
                       double seconds) {
  const analysis::Slice& slice = sliced.slice;
  nlohmann::json object = json_result("slice", "done", run, seconds);
  object["at"] = slice.at;
  object["events"] = trace.events.size();
  object["events_in_slice"] = slice.size;
  object["within_threads"] = name_of(sliced.within);
  if (!sliced.why_not_more.empty()) object["why_not_more"] = sliced.why_not_more;
  if (sliced.within != Within::WholeThreads) {
    object["instructions"] = sliced.code_instructions;
    object["instructions_in_slice"] = slice.instructions;
  }
  if (sliced.within == Within::Instructions) {
    object["instructions_executed"] = sliced.executed;
    object["executed_in_slice"] = sliced.instances;
    object["trace_bytes"] = sliced.trace_bytes;
    object["from_event"] = sliced.window_from;
    object["lines"] = nlohmann::json::array();
    for (std::size_t i = 0; i < sliced.lines.size(); ++i) {
      for (const SlicedLines& file : sliced.lines[i]) {
        object["lines"].push_back(
            {{"thread", trace.threads[i].path}, {"file", file.file}, {"lines", file.lines}});
      }
    }
  }
  object["slice"] = numbers_of(slice.contains);
  object["same_memory"] = numbers_of(analysis::at_same_memory(trace, slice));
  object["reasons"] = nlohmann::json::array();
  for (const analysis::Dependence& reason : slice.reasons) {
    object["reasons"].push_back(
        {{"from", reason.from}, {"to", reason.to}, {"kind", analysis::name_of(reason.kind)}});
  }
  return object;
}

void print_lines(const SlicedRun& sliced, const trace::Trace& trace) {
  for (std::size_t i = 0; i < sliced.lines.size(); ++i) {
    for (const SlicedLines& file : sliced.lines[i]) {
      fmt::print("  {:<8} {}: {}\n", trace.threads[i].path, trace::base_name(file.file),
                 fmt::join(file.lines, ", "));
    }
  }
}

void print(const SlicedRun& sliced, const trace::Trace& trace, const store::RunId& run) {
  const analysis::Slice& slice = sliced.slice;
  if (!sliced.why_not_more.empty()) {
    fmt::print("Of {}, {}\n",
               sliced.within == Within::WholeThreads ? "each thread all counts"
                                                     : "its instructions only the code is known",
               "as " + sliced.why_not_more);
  }
  fmt::print("Event {} of {} may depend on {} of the {} events up to it", slice.at, run,
             slice.size - 1, slice.at);
  switch (sliced.within) {
    case Within::WholeThreads: break;
    case Within::Code:
      fmt::print(", and on {} of the program's {} instructions", slice.instructions,
                 sliced.code_instructions);
      break;
    case Within::Instructions:
      fmt::print(", and on {} of the {} instructions executed", sliced.instances, sliced.executed);
      if (sliced.window_from > 0) fmt::print(" from event {} on", sliced.window_from);
      break;
  }
  fmt::print(":\n\n");
  for (std::size_t i = 0; i < slice.contains.size(); ++i) {
    if (!slice.contains[i]) continue;
    const trace::Event& event = trace.events[i];
    const trace::Frame* const frame = trace::source_frame(trace, event.site);
    const std::string where =
        frame == nullptr ? std::string("-")
                         : fmt::format("{}:{}", trace::base_name(frame->file), frame->line);
    fmt::print("{:>6}  {:<8} {:<16} {}\n", i, trace.threads[event.thread].path, where,
               trace::describe(trace, event));
  }
  const std::vector<bool> others = analysis::at_same_memory(trace, slice);
  if (const auto count = std::count(others.begin(), others.end(), true)) {
    fmt::print("\nAt memory that these access, {} more: `heddle show` tells {}.\n",
               count == 1 ? "there is 1 event" : fmt::format("there are {} events", count),
               count == 1 ? "it" : "them");
  }
  if (sliced.within != Within::Instructions) return;
  fmt::print("\nInstructions on these lines:\n");
  print_lines(sliced, trace);
}

ExitCode slice(const SliceFlags& flags, bool json) {
  const SliceWish wish = wish_of(flags);
  store::Store store = store::Store::open_existing();
  const store::RunSummary run = store.find(flags.run);
  const driver::Inputs inputs = from_stored(store.load_inputs(run.id));
  const store::RunOutput output = store.load_output(run.id);
  const driver::Expectation expectation{store.load_trace(run.id), store.load_schedule(run.id),
                                        output.standard_output, output.standard_error};
  ProgressLine progress(json);
  const auto begin = std::chrono::steady_clock::now();
  const SlicedRun sliced = slice_run(inputs, expectation, run.build_id, wish, progress);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  progress.clear();
  if (!flags.at && sliced.within == Within::Instructions) {
    keep_slice(store, run.id, worth_showing(expectation.trace, sliced.slice));
  }
  if (json) {
    print_json(to_json(sliced, expectation.trace, run.id, seconds));
  } else {
    print(sliced, expectation.trace, run.id);
  }
  return ExitCode::Done;
}

}  // namespace

void add_slice_command(CLI::App& app, Invocation& invocation) {
  const auto flags = std::make_shared<SliceFlags>();
  CLI::App* const command =
      add_command(app, invocation, "slice", "Show what an event of a kept run may depend on",
                  "heddle slice latest --at 120");
  command->add_option("run", flags->run, "which run: its id, or latest")->capture_default_str();
  command->add_option("--at", flags->at,
                      "number of the event, as `heddle show --events` counts (default: the last "
                      "one of the thread that failed)");
  command->add_flag("--whole-threads", flags->whole_threads,
                    "follow dependences between threads only: of each thread every earlier event "
                    "counts");
  command->add_flag("--static", flags->code_only,
                    "do not replay the run: within a thread follow what the program's code says, "
                    "which knows no order");
  command->add_option("--window", flags->window,
                      "follow instructions in so many events at the end only, and what the code "
                      "says before that (default: as many as can be held)");
  command->callback([flags, &invocation] {
    invocation.chosen = [flags, &invocation] { return slice(*flags, invocation.json); };
  });
}

}  // namespace heddle::cli
