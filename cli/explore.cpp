// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <thread>

#include "abi/names.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/present.h"
#include "cli/run_options.h"
#include "cli/search_status.h"
#include "cli/terminal.h"
#include "driver/explorer.h"
#include "driver/trace_builder.h"
#include "report/json.h"
#include "store/store.h"

namespace heddle::cli {
namespace {

struct ExploreFlags : RunFlags {
  std::uint64_t schedules = 10'000;
  double time_seconds = 0;
  unsigned workers = 1;
  bool until_failure = false;
  bool all = false;
  std::uint32_t max_preemptions = 2;
  std::uint32_t max_delays = 2;
  bool unpruned = false;
  std::vector<std::string> absent_threads;
};

driver::SearchSettings settings_of(const ExploreFlags& flags) {
  driver::SearchSettings settings;
  std::istringstream names(flags.strategy);
  for (std::string name; std::getline(names, name, ',');) settings.strategies.push_back(name);
  if (settings.strategies.empty()) throw user_error("--strategy: names at least one strategy");
  RunFlags run_flags = flags;
  run_flags.strategy = abi::Options{}.strategy;  // each trial has its own
  settings.options = options_of(run_flags);
  settings.absent = driver::absent_records(flags.absent_threads);
  settings.max_preemptions = flags.max_preemptions;
  settings.max_delays = flags.max_delays;
  // What a program prints is no operation: two schedules that print in another order may be the
  // same but for that. With store buffers a store takes effect elsewhere than where it stands.
  settings.prune = !flags.unpruned && flags.fails_if.empty() && flags.memory_model == "sc";
  return settings;
}

/// Whether the search ends by itself, having tried all there is within its bound.
bool ends_by_itself(const driver::SearchSettings& settings) {
  return std::all_of(settings.strategies.begin(), settings.strategies.end(),
                     [](const std::string& name) {
                       return name == "chess" || name == "delay" || name == "sequential";
                     });
}

void check(const ExploreFlags& flags, const driver::SearchSettings& settings) {
  if (flags.workers == 0) throw user_error("-j: at least one worker is needed");
  if (flags.time_seconds < 0) throw user_error("--time: a search cannot take less than no time");
  if (flags.schedules == 0 && flags.time_seconds == 0 && !ends_by_itself(settings)) {
    throw user_error(
        "-n 0 and no --time: this search would never end; give it a number of schedules (-n 10000) "
        "or seconds (--time 60)");
  }
}

/// A systematic search that has tried all there is within its bound.
bool search_is_over(const driver::ExploreResult& result, const ExploreFlags& flags) {
  return !result.interrupted && flags.schedules != 0 && result.status.schedules < flags.schedules;
}

/// In executions of that many events nearly all are accesses that nobody races for: `auto` would
/// overlook them.
bool could_overlook(const driver::Search& search, const ExploreFlags& flags) {
  constexpr double kManyEvents = 10'000;
  return flags.preempt_at == "all" && flags.memory_model == "sc" &&
         search.status().mean_events > kManyEvents;
}

void print_result(const driver::ExploreResult& result, const driver::Search& search,
                  const ExploreFlags& flags, const std::vector<store::RunId>& runs) {
  if (runs.empty()) {
    fmt::print("No failure in {} schedules ({:.1f} s{}).\n", result.status.schedules,
               result.status.seconds, result.interrupted ? ", interrupted" : "");
  }
  if (result.exhausted_bound) {
    fmt::print("Every schedule with at most {} preemption{} was tried.\n", *result.exhausted_bound,
               *result.exhausted_bound == 1 ? "" : "s");
  }
  if (runs.empty() && !search_is_over(result, flags)) {
    const bool overlook = could_overlook(search, flags);
    if (overlook) {
      fmt::print(
          "{:.0f} events a schedule: without --preempt-at all, accesses that nobody races for are "
          "overlooked.\n",
          search.status().mean_events);
    }
    fmt::print("More schedules: heddle explore -n {} -- {}\n", flags.schedules * 10,
               fmt::join(flags.command, " "));
  }
}

ExitCode explore(const ExploreFlags& flags, bool json) {
  const driver::SearchSettings settings = settings_of(flags);
  const std::unique_ptr<driver::Search> search = driver::make_search(settings);
  check(flags, settings);
  const Terminal terminal = Terminal::of_standard_output();
  ProgressLine progress(json);
  const driver::Program program =
      open_program(flags, [&](std::string_view text) { progress.say(text); });
  if (!program.instrumented() && !json) {
    progress.clear();
    fmt::print(stderr,
               "heddle: {} was not built with heddle-cc: only its synchronisation is explored, "
               "not its memory accesses\n",
               program.name());
  }
  const driver::Inputs inputs = inputs_of(flags);
  driver::ExploreLimits limits = limits_of(flags);
  limits.schedules = flags.schedules;
  limits.time = std::chrono::milliseconds(static_cast<long>(flags.time_seconds * 1000));
  limits.workers = flags.workers;
  limits.all = flags.all;
  limits.interrupted = &interrupt_flag();
  stop_on_interrupt();

  // Opened before the search: a directory that cannot be written is better known at once.
  store::Store store = store::Store::open_or_create();
  std::vector<store::RunId> runs;
  nlohmann::json failures = nlohmann::json::array();
  const auto on_failure = [&](const driver::KeptRun& run) {
    const store::RunId id = store.add({"explore",
                                       run.trace,
                                       run.schedule,
                                       to_stored(inputs),
                                       {run.standard_output, run.standard_error},
                                       run.seconds});
    runs.push_back(id);
    failures.push_back({{"run", id},
                        {"signature", report::to_json(trace::signature_of(run.trace))},
                        {"failure", report::outcome_json(run.trace)},
                        {"schedule_number", run.number}});
    if (json) return;
    progress.clear();
    fmt::print("Failure in schedule {}, kept as {}: {}\n\n{}\n", run.number, id,
               trace::signature(run.trace), story_text(run.trace, terminal));
  };
  const driver::ExploreResult result = driver::explore(
      program, inputs, *search, limits, on_failure, [&](const driver::ExploreStatus& status) {
        progress.update([&] {
          return progress.on_terminal() ? status_panel(status, search->status(), flags.schedules)
                                        : status_line(status, search->status(), flags.schedules);
        });
      });
  progress.clear();

  if (json) {
    nlohmann::json object = json_result("explore", runs.empty() ? "none" : "failure",
                                        runs.empty() ? "" : runs.front(), result.status.seconds);
    object["schedules"] = result.status.schedules;
    object["failing_schedules"] = result.status.failing;
    object["schedules_to_first_failure"] =
        result.first_failure ? nlohmann::json(*result.first_failure) : nlohmann::json();
    object["failures"] = failures;
    object["exhausted_bound"] =
        result.exhausted_bound ? nlohmann::json(*result.exhausted_bound) : nlohmann::json();
    object["interrupted"] = result.interrupted;
    object["nondeterminism"] = result.leak ? nlohmann::json{{"schedule", result.leak->number},
                                                            {"difference", result.leak->difference}}
                                           : nlohmann::json();
    if (result.reset_obstacle != abi::ResetObstacle::None) {
      object["forked_because"] = abi::sentence_of(result.reset_obstacle);
    }
    print_json(object);
  } else {
    print_result(result, *search, flags, runs);
    if (result.reset_obstacle != abi::ResetObstacle::None) {
      fmt::print(stderr, "heddle: each execution needed a process of its own, because {}\n",
                 abi::sentence_of(result.reset_obstacle));
    }
    if (result.leak) print_leak(result.leak->number, result.leak->difference);
    if (!runs.empty()) print_next(runs.front(), false);
  }
  if (result.leak) return ExitCode::Environment;
  return runs.empty() ? ExitCode::Done : ExitCode::ProgramFailed;
}

}  // namespace

void add_explore_command(CLI::App& app, Invocation& invocation) {
  const auto flags = std::make_shared<ExploreFlags>();
  flags->strategy = "portfolio";
  CLI::App* const command =
      add_command(app, invocation, "explore", "Search the program's schedules for a failure",
                  "heddle explore -n 100000 -- ./prog --its-own-flag");
  add_run_flags(*command, *flags);
  command
      ->add_option("-n,--schedules", flags->schedules,
                   "schedules to try; 0: as many as there are, or until --time")
      ->capture_default_str();
  command->add_option("--time", flags->time_seconds, "seconds to search; 0: no limit")
      ->capture_default_str();
  command->add_option("-j,--workers", flags->workers, "executions at the same time")
      ->capture_default_str();
  auto* const until = command->add_flag("--until-failure", flags->until_failure,
                                        "stop at the first failure (the default)");
  command->add_flag("--all", flags->all, "go on after a failure; keep one run of each signature")
      ->excludes(until);
  command
      ->add_option("--max-preemptions", flags->max_preemptions,
                   "with --strategy chess: the largest number of preemptions in a schedule")
      ->capture_default_str();
  command
      ->add_option("--max-delays", flags->max_delays,
                   "with --strategy delay: the largest number of delays in a schedule")
      ->capture_default_str();
  command->add_flag("--unpruned", flags->unpruned,
                    "with chess and delay: also schedules that differ from tried ones only in the "
                    "order of independent operations");
  command
      ->add_option("--without", flags->absent_threads,
                   "threads that are created but never started, such as t0.2,t0.3.1")
      ->delimiter(',')
      ->take_all();
  command->callback([flags, &invocation] {
    invocation.chosen = [flags, &invocation] { return explore(*flags, invocation.json); };
  });
}

}  // namespace heddle::cli
