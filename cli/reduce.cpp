// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "abi/names.h"
#include "analysis/reduce/reduce.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/kept_run.h"
#include "cli/present.h"
#include "cli/reduce_input.h"
#include "cli/run_code.h"
#include "cli/run_options.h"
#include "cli/sliced_run.h"
#include "cli/terminal.h"
#include "driver/program_oracle.h"
#include "store/store.h"
#include "trace/words.h"

namespace heddle::cli {
namespace {

struct ReduceFlags {
  std::string run = "latest";
  double time_seconds = 0;
  std::string fails_if;
  unsigned workers = 1;
  bool all_iterations = false;
  bool all_events = false;
  std::string input;
  std::string reducer = "cvise";
  std::string test_input;
};

nlohmann::json to_json(const analysis::Size& size) {
  return {{"threads", size.threads},
          {"events", size.events},
          {"switches", size.switches},
          {"preemptions", size.preemptions},
          {"replay_seconds", size.replay_seconds}};
}

nlohmann::json to_json(const analysis::Share& share) {
  return {{"events_removed", share.events_removed},
          {"trials", share.trials},
          {"events_executed", share.events_executed}};
}

nlohmann::json to_json(const analysis::AccountEntry& entry) {
  nlohmann::json object = {{"thread", entry.thread},
                           {"removed", entry.removed},
                           {"events", entry.events},
                           {"why", entry.why}};
  if (!entry.iterations.empty()) object["iterations"] = entry.iterations;
  if (entry.place.line != 0) {
    object["file"] = entry.place.file;
    object["line"] = entry.place.line;
    object["function"] = entry.place.function;
  }
  return object;
}

const char* name_of(analysis::Overlooking overlooking) {
  switch (overlooking) {
    case analysis::Overlooking::Done: return "done";
    case analysis::Overlooking::NothingOutside: return "nothing-outside";
    case analysis::Overlooking::NoSlice: return "no-slice";
    case analysis::Overlooking::DelayedStores: return "delayed-stores";
    case analysis::Overlooking::FailureIsMissed: return "failure-is-missed";
    case analysis::Overlooking::NotAsked: break;
  }
  return "not-asked";
}

nlohmann::json to_json(const analysis::OverlookedLine& line) {
  nlohmann::json object = {{"accesses", line.accesses}, {"places", line.sites}};
  if (line.place.line != 0) {
    object["file"] = line.place.file;
    object["line"] = line.place.line;
    object["function"] = line.place.function;
  }
  return object;
}

std::uint64_t max_events_of(const trace::Trace& trace) {
  const auto found = trace.header.options.find("max_events");
  return found == trace.header.options.end() ? abi::Options{}.max_events
                                             : std::stoull(found->second);
}

/// A trial that goes on much longer than the original run is not going to be the smaller one; only
/// where not ending is the failure does it have to be let go on.
std::uint64_t max_followed_of(const trace::Trace& trace) {
  constexpr std::uint64_t kRoom = 10'000;
  if (trace.outcome.kind == abi::FailureKind::NoProgress) return max_events_of(trace);
  return 4 * trace.events.size() + kRoom;
}

constexpr std::size_t kAccountLines = 12;
constexpr std::size_t kOverlookedLines = 6;

/// "1-6, 8".
std::string ranges_text(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (!text.empty()) text += ", ";
    text += end - i == 1 ? fmt::format("{}", numbers[i])
                         : fmt::format("{}-{}", numbers[i], numbers[end - 1]);
    i = end;
  }
  return text;
}

std::string entry_text(const analysis::AccountEntry& entry) {
  std::string what = entry.thread;
  if (!entry.iterations.empty()) {
    what += fmt::format(" iteration{} {}", entry.iterations.size() == 1 ? "" : "s",
                        ranges_text(entry.iterations));
  }
  if (entry.place.line != 0) {
    what += fmt::format(" ({}{}:{})", entry.iterations.empty() ? "created at " : "",
                        trace::base_name(entry.place.file), entry.place.line);
  }
  return fmt::format("{}, {} events: {}", what, entry.events, entry.why);
}

/// What the failure does not depend on, or why that is seen all the same.
void print_overlooked(const analysis::Reduction& reduction) {
  switch (reduction.overlooking) {
    case analysis::Overlooking::Done: break;
    case analysis::Overlooking::NotAsked:
    case analysis::Overlooking::NothingOutside: return;
    case analysis::Overlooking::NoSlice:
      fmt::print(
          "  What the failure depends on is not known here (heddle slice), so every access that is "
          "left is seen.\n");
      return;
    case analysis::Overlooking::DelayedStores:
      fmt::print("  Where stores are delayed every access has to be seen.\n");
      return;
    case analysis::Overlooking::FailureIsMissed:
      fmt::print(
          "  Accesses that the failure seems not to depend on are seen: without that it does not "
          "come back.\n");
      return;
  }
  std::uint64_t accesses = 0;
  std::uint64_t sites = 0;
  std::vector<std::string> lines;
  for (const analysis::OverlookedLine& line : reduction.overlooked) {
    accesses += line.accesses;
    sites += line.sites;
    lines.push_back(line.place.line == 0
                        ? fmt::format("? ({})", line.accesses)
                        : fmt::format("{}:{} ({})", trace::base_name(line.place.file),
                                      line.place.line, line.accesses));
  }
  const std::size_t shown = std::min(lines.size(), kOverlookedLines);
  fmt::print(
      "  not seen: {} access{} at {} place{}: the failure does not depend on them\n"
      "            {}{}\n",
      accesses, accesses == 1 ? "" : "es", sites, sites == 1 ? "" : "s",
      fmt::join(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
      shown < lines.size() ? fmt::format(", and {} more lines", lines.size() - shown) : "");
}

void print_account(const analysis::Reduction& reduction, const store::RunId& id) {
  const auto row = [](const char* what, std::uint64_t before, std::uint64_t after) {
    fmt::print("  {:<12} {:>7} -> {}\n", what, before, after);
  };
  fmt::print("Reduced to {} in {} trials{}:\n", id, reduction.trials,
             reduction.stopped ? " (stopped early)" : "");
  row("threads", reduction.before.threads, reduction.after.threads);
  row("events", reduction.before.events, reduction.after.events);
  row("switches", reduction.before.switches, reduction.after.switches);
  row("preemptions", reduction.before.preemptions, reduction.after.preemptions);
  for (const bool removed : {true, false}) {
    std::size_t lines = 0;
    for (const analysis::AccountEntry& entry : reduction.account) {
      if (entry.removed != removed) continue;
      if (++lines <= kAccountLines) {
        fmt::print("  {} {}\n", removed ? "left out:" : "needed:  ", entry_text(entry));
      }
    }
    if (lines > kAccountLines) fmt::print("  ... and {} more\n", lines - kAccountLines);
  }
  print_overlooked(reduction);
  if (reduction.gave_up) {
    fmt::print("  Many iterations are needed, and not all were tried: --all-iterations does.\n");
  }
  if (reduction.fewest_preemptions) {
    fmt::print("  No schedule with fewer preemptions fails so: all were tried.\n");
  }
  if (reduction.passes_promptly) {
    fmt::print(
        "  The program also fails when its threads run one after the other, in every order that\n"
        "  was tried, so whether a removed thread's work is missing was asked with every thread\n"
        "  running as soon as it is created.\n");
  } else if (reduction.passes_by_chance) {
    fmt::print(
        "  The program also fails when its threads run one after the other, in every order that\n"
        "  was tried, so whether a removed thread's work is missing was asked in random "
        "schedules.\n");
  } else if (!reduction.passing_order && !reduction.stopped) {
    fmt::print(
        "  The program also fails when its threads run one after the other, in every order that\n"
        "  was tried, so whether a removed thread's work is missing could not be asked.\n");
  }
}

/// A run that leaves out none is one of the ordinary variant.
void without_iterations(analysis::Attempt& best, const KeptRun& kept, const ReduceFlags& flags,
                        ProgressLine& progress) {
  const abi::Variant variant = driver::variant_for(best.schedule);
  if (variant.has(abi::Variant::Repeats) || kept.program.sites() == nullptr) return;
  const driver::Program program = driver::Program::open(
      program_of(kept.inputs), [&](std::string_view text) { progress.say(text); }, variant);
  driver::ProgramOracle oracle(program, kept.inputs, max_events_of(kept.attempt.trace),
                               max_followed_of(kept.attempt.trace), flags.fails_if);
  analysis::Attempt again = oracle.follow(best.schedule);
  if (trace::signature(again.trace) != trace::signature(best.trace)) return;
  again.trace.stacks = std::move(best.trace.stacks);
  best = std::move(again);
}

/// Executes the result once more, from the beginning.
void keep_what_comes_back(analysis::Attempt& best, driver::ProgramOracle& oracle) {
  analysis::Attempt again = oracle.follow_with_stacks(best.schedule);
  if (trace::signature(again.trace) != trace::signature(best.trace)) {
    throw user_error(
        "the reduced run does not fail again, so it is not kept: the program does something that "
        "is not the same each time; see what differs with: heddle replay");
  }
  best = std::move(again);
}

/// Which events of the result its failure depends on, kept with it; empty: not known.
std::vector<bool> depended_on(store::Store& store, const store::RunId& id, const KeptRun& kept,
                              const analysis::Attempt& best, ProgressLine& progress) {
  if (kept.program.sites() == nullptr) return {};
  const driver::Expectation run{best.trace, best.schedule, best.standard_output,
                                best.standard_error};
  const SlicedRun sliced = slice_run(kept.inputs, run, kept.program.build_id(), {}, progress);
  if (sliced.within != Within::Instructions) return {};
  const std::vector<bool> shown = worth_showing(best.trace, sliced.slice);
  keep_slice(store, id, shown);
  return shown;
}

ExitCode reduce(const ReduceFlags& flags, bool json) {
  store::Store store = store::Store::open_existing();
  stop_on_interrupt();  // also while the variant is linked: what is kept then is the run itself
  ProgressLine progress(json);
  const KeptRun kept = open_kept_run(store, flags.run, "reduce", flags.fails_if, progress,
                                     abi::Variant::Full.with(abi::Variant::Repeats));
  const auto& [summary, inputs, original, program] = kept;
  const bool same_build = program.build_id() == summary.build_id;
  if (!same_build && !json) {
    progress.clear();
    fmt::print(stderr,
               "heddle: {} was built again since {} was recorded; its schedule is followed as far "
               "as the places it names are still there\n",
               program.name(), summary.id);
  }
  driver::ProgramOracle oracle(program, inputs, max_events_of(original.trace),
                               max_followed_of(original.trace), flags.fails_if, flags.workers);

  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  analysis::ReduceOptions options;
  options.stop = [&] {
    return interrupted() || (flags.time_seconds > 0 && seconds() >= flags.time_seconds);
  };
  options.all_iterations = flags.all_iterations;
  options.slice = [&](const trace::Trace& trace) -> std::optional<std::vector<bool>> {
    // The one that the result is sliced with, too, unless iterations are left out.
    const std::unique_ptr<RunCode> run_code = RunCode::open(
        program_of(inputs), program.build_id(),
        abi::Variant::Full.with(abi::Variant::Depends).with(abi::Variant::Instructions),
        [&](std::string_view text) { progress.say(text); });
    if (run_code == nullptr) return std::nullopt;
    const analysis::Code code = run_code->of(trace);
    return worth_showing(trace, analysis::slice_of_failure(trace, &code));
  };
  options.progress = [&](const analysis::ReduceProgress& now) {
    progress.update([&] {
      return fmt::format("round {}, {}: {} trials; {} threads, {} preemptions, {} events",
                         now.round, now.phase, now.trials, now.best.threads, now.best.preemptions,
                         now.best.events);
    });
  };
  analysis::Reduction reduction = analysis::reduce(oracle, original, options);
  keep_what_comes_back(reduction.best, oracle);
  without_iterations(reduction.best, kept, flags, progress);
  progress.clear();

  const analysis::Attempt& best = reduction.best;
  const store::RunId id = store.add({"reduce",
                                     best.trace,
                                     best.schedule,
                                     to_stored(inputs),
                                     {best.standard_output, best.standard_error},
                                     best.seconds});
  const std::vector<bool> shown = depended_on(store, id, kept, best, progress);
  progress.clear();
  if (json) {
    nlohmann::json object =
        json_result("reduce", abi::name_of(best.trace.outcome.kind), id, seconds());
    object["from"] = summary.id;
    object["before"] = to_json(reduction.before);
    object["after"] = to_json(reduction.after);
    object["trials"] = reduction.trials;
    object["rounds"] = reduction.rounds;
    object["events_executed"] = reduction.events_executed;
    object["parts"] = {{"guess", to_json(reduction.guess)},
                       {"threads", to_json(reduction.threads)},
                       {"iterations", to_json(reduction.iterations)},
                       {"other_schedules", to_json(reduction.other_schedules)},
                       {"switches", to_json(reduction.switches)},
                       {"slice", to_json(reduction.slice)},
                       {"proof", to_json(reduction.proof)}};
    object["removed_threads"] = reduction.removed_threads;
    object["account"] = nlohmann::json::array();
    for (const analysis::AccountEntry& entry : reduction.account) {
      object["account"].push_back(to_json(entry));
    }
    object["overlooking"] = name_of(reduction.overlooking);
    object["overlooked"] = nlohmann::json::array();
    for (const analysis::OverlookedLine& line : reduction.overlooked) {
      object["overlooked"].push_back(to_json(line));
    }
    object["sequential_passes"] = reduction.passing_order.has_value();
    object["prompt_passes"] = reduction.passes_promptly;
    object["chance_passes"] = reduction.passes_by_chance;
    object["fewest_preemptions"] = reduction.fewest_preemptions;
    object["gave_up"] = reduction.gave_up;
    object["same_build"] = same_build;
    object["stopped"] = reduction.stopped;
    object["hidden_events"] = std::count(shown.begin(), shown.end(), false);
    print_json(object);
  } else {
    print_account(reduction, id);
    fmt::print("\n{}\n", story_text(best.trace, Terminal::of_standard_output(),
                                    flags.all_events ? std::vector<bool>{} : shown));
    print_next(id, !reduction.stopped);
  }
  return ExitCode::Done;
}

}  // namespace

void add_reduce_command(CLI::App& app, Invocation& invocation) {
  const auto flags = std::make_shared<ReduceFlags>();
  CLI::App* const command = add_command(
      app, invocation, "reduce", "Find the smallest run that still shows a kept run's failure",
      "heddle reduce latest");
  command->add_option("run", flags->run, "which run: its id, or latest")->capture_default_str();
  command
      ->add_option("--time", flags->time_seconds, "seconds to try; 0: until nothing gets smaller")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command->add_option("-j,--workers", flags->workers, "executions at the same time")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  command->add_flag("--all-iterations", flags->all_iterations,
                    "try all iterations of loops, also where many are needed");
  command->add_flag("--all-events", flags->all_events,
                    "tell also of events of the result that the failure does not depend on");
  command->add_option("--fails-if", flags->fails_if, "the predicate that judged the run");
  CLI::Option* const input = command->add_option(
      "--input", flags->input,
      "make this input of the run smaller instead (an argument, or its standard input)");
  command->add_option("--reducer", flags->reducer, "the program that does so")
      ->capture_default_str()
      ->needs(input);
  command
      ->add_option("--test-input", flags->test_input,
                   "only say whether the failure comes back with this file instead (status 0)")
      ->needs(input);
  command->callback([flags, &invocation] {
    invocation.chosen = [flags, &invocation] {
      if (flags->input.empty()) return reduce(*flags, invocation.json);
      return reduce_input(
          {flags->run, flags->input, flags->reducer, flags->test_input, flags->fails_if},
          invocation.json);
    };
  });
}

}  // namespace heddle::cli
