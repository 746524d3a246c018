// SPDX-License-Identifier: Apache-2.0
#include "driver/explorer.h"

#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "driver/determinism.h"
#include "driver/failure_stacks.h"
#include "driver/misjudged.h"
#include "driver/outcome.h"
#include "driver/trace_builder.h"

namespace heddle::driver {
namespace {

using Clock = std::chrono::steady_clock;

// A run that overlooked accesses has many times as many events when it is executed with all.
constexpr std::uint64_t kMoreRoom = 16;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Endings that are no finding about the program but a reason to stop and tell.
void refuse_if_uncontrollable(const Program& program, const Target& target, const Ending& ending) {
  if (ending.kind == abi::FailureKind::Unsupported) {
    throw user_error("the program cannot be controlled: " + ending.message +
                     "; docs/limits.md lists what is not supported");
  }
  if (ending.kind == abi::FailureKind::Internal) {
    throw defect(ending.message + "\n" + target.standard_error());
  }
  if (ending.kind == abi::FailureKind::Misjudged) {
    throw defect(misjudged_text(program, target.channel()));
  }
}

}  // namespace

Ending judge(const Program& program, const Target& target, const Execution& execution,
             const std::string& fails_if) {
  Ending ending = classify(target, execution);
  refuse_if_uncontrollable(program, target, ending);
  if (!ending.failed() && !fails_if.empty() && predicate_holds(fails_if, target, ending)) {
    ending.kind = abi::FailureKind::Predicate;
  }
  return ending;
}

namespace {

KeptRun keep(const Program& program, const Inputs& inputs, const Target& target,
             const Ending& ending, std::uint64_t number, double seconds) {
  return {number,
          build_trace(program, target, ending),
          build_schedule(program, target, inputs),
          target.standard_output(),
          target.standard_error(),
          seconds,
          std::nullopt};
}

class Exploration {
 public:
  Exploration(const Program& program, const Inputs& inputs, Search& search,
              const ExploreLimits& limits, const OnFailure& on_failure, const OnStatus& on_status)
      : program_(program),
        inputs_(inputs),
        search_(search),
        limits_(limits),
        on_failure_(on_failure),
        on_status_(on_status) {}

  ExploreResult run() {
    std::vector<std::thread> others;
    for (unsigned i = 1; i < limits_.workers; ++i) others.emplace_back([this] { work(); });
    work();
    for (std::thread& worker : others) worker.join();
    if (error_) std::rethrow_exception(error_);
    result_.status.seconds = seconds_since(start_);
    result_.exhausted_bound = search_.exhausted_bound();
    result_.interrupted = limits_.interrupted != nullptr && *limits_.interrupted;
    return result_;
  }

 private:
  void work() {
    try {
      // One target a worker, created in the thread that uses it: the kernel ends a target together
      // with the thread that started it.
      Target target(program_.image(), inputs_, search_.options().max_events, limits_.execution);
      target.stay_on_one_cpu();
      while (!stopping()) {
        const std::optional<Trial> trial = take();
        if (!trial) break;
        execute(target, *trial);
      }
      const std::scoped_lock lock(mutex_);
      if (target.reset_obstacle() != abi::ResetObstacle::None) {
        result_.reset_obstacle = target.reset_obstacle();
      }
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      if (!error_) error_ = std::current_exception();
      stop_ = true;
    }
  }

  std::optional<Trial> take() {
    {
      const std::scoped_lock lock(mutex_);
      if (limits_.schedules != 0 && taken_ >= limits_.schedules) return std::nullopt;
      if (result_.first_failure && !limits_.all) return std::nullopt;
      ++taken_;
    }
    return search_.next();
  }

  bool stopping() {
    const std::scoped_lock lock(mutex_);
    if (stop_ || (limits_.interrupted != nullptr && *limits_.interrupted)) return true;
    return limits_.time.count() != 0 && Clock::now() - start_ >= limits_.time;
  }

  void execute(Target& first, const Trial& trial) {
    const Clock::time_point begin = Clock::now();
    const Executed executed = run(first, trial);
    Target& target = executed.larger ? *executed.larger : first;
    const Ending& ending = executed.ending;
    const double seconds = seconds_since(begin);
    Trial seen = trial;
    seen.options.overlook = executed.options.overlook;
    seen.options.see_events = executed.options.overlook != 0 ? executed.options.see_events : 0;
    search_.observe(seen, target.channel(), ending.failed());

    const std::scoped_lock lock(mutex_);
    ++result_.status.schedules;
    if (ending.failed()) {
      ++result_.status.failing;
      KeptRun kept = keep(program_, inputs_, target, ending, trial.number, seconds);
      kept.trace.header.options["strategy"] = trial.options.strategy;
      note_failure(target, std::move(kept));
    }
    if (limits_.check_determinism) check(target, trial.number, executed);
    result_.status.seconds = seconds_since(start_);
    on_status_(result_.status);
  }

  /// What the target did last.
  struct Executed {
    abi::Options options;
    std::vector<abi::PlanRecord> plan;
    Ending ending;
    std::unique_ptr<Target> larger = nullptr;  // it was this one, with more room for events
  };

  Executed run(Target& target, abi::Options options, std::vector<abi::PlanRecord> plan) {
    const Execution execution = target.run(options, plan);
    return {options, std::move(plan), judge(program_, target, execution, limits_.fails_if)};
  }

  Executed run_with_room(abi::Options options, std::vector<abi::PlanRecord> plan) {
    options.max_events *= kMoreRoom;
    auto larger =
        std::make_unique<Target>(program_.image(), inputs_, options.max_events, limits_.execution);
    Executed executed = run(*larger, options, std::move(plan));
    executed.larger = std::move(larger);
    return executed;
  }

  /// One that overlooked accesses and failed is done again, by its own schedule, with all of them:
  /// a run is kept with everything that leads to its failure.
  Executed run(Target& target, Trial trial) {
    Executed first = run(target, trial.options, trial.plan);
    while (first.ending.kind == abi::FailureKind::NoProgress &&
           search_.narrow(trial, target.channel())) {
      first = run(target, trial.options, trial.plan);
    }
    if (trial.options.overlook == 0 || !first.ending.failed()) return first;
    const auto [signature, plan] = described(target, first.ending);
    abi::Options options = trial.options;
    options.overlook = 0;
    std::strcpy(options.strategy, "replay");
    Executed again = run(target, options, plan);
    if (described(target, again.ending).first == signature) return again;
    // Some thread may have spun on what it could not see change.
    const bool stood_still = first.ending.kind == abi::FailureKind::Hang ||
                             first.ending.kind == abi::FailureKind::NoProgress;
    if (again.ending.kind == abi::FailureKind::NoProgress && !stood_still) {
      again = run_with_room(options, plan);
      if (described(*again.larger, again.ending).first == signature) return again;
    }
    // With all of its accesses it is too long, or goes another way once it seems not to end.
    if (!stood_still && std::strcmp(trial.options.preempt_at, "sync") == 0) {
      return run(target, trial.options, trial.plan);
    }
    search_.see_everything();
    options = trial.options;
    options.overlook = 0;
    return run(target, options, trial.plan);
  }

  /// The signature of what the target did last, and the plan that does it again.
  std::pair<std::string, std::vector<abi::PlanRecord>> described(const Target& target,
                                                                 const Ending& ending) {
    const std::scoped_lock lock(mutex_);
    return {trace::signature(build_trace(program_, target, ending)),
            make_plan(program_, build_schedule(program_, target, inputs_))};
  }

  void check(Target& target, std::uint64_t number, const Executed& executed) {
    const std::optional<std::string> difference =
        find_leak(program_, target, executed.options, executed.plan, executed.ending);
    if (!difference) return;
    result_.leak = {number, *difference};
    stop_ = true;
  }

  void note_failure(const Target& target, KeptRun run) {
    if (!result_.first_failure || run.number < *result_.first_failure) {
      result_.first_failure = run.number;
    }
    auto& failures = result_.status.failures;
    if (++failures[trace::signature(run.trace)] > 1) return;
    result_.status.distinct_failures = failures.size();
    run.trace.stacks = failure_stacks(program_, target.channel());
    on_failure_(run);
  }

  const Program& program_;
  const Inputs& inputs_;
  Search& search_;
  const ExploreLimits& limits_;
  const OnFailure& on_failure_;
  const OnStatus& on_status_;
  const Clock::time_point start_ = Clock::now();

  std::mutex mutex_;  // guards all below, and everything that is not safe to share (program_)
  std::uint64_t taken_ = 0;
  bool stop_ = false;
  std::exception_ptr error_;
  ExploreResult result_;
};

}  // namespace

ExploreResult explore(const Program& program, const Inputs& inputs, Search& search,
                      const ExploreLimits& limits, const OnFailure& on_failure,
                      const OnStatus& on_status) {
  return Exploration(program, inputs, search, limits, on_failure, on_status).run();
}

KeptRun run_once(const Program& program, const Inputs& inputs, const abi::Options& options,
                 std::span<const abi::PlanRecord> plan, const ExploreLimits& limits) {
  Target target(program.image(), inputs, options.max_events, limits.execution);
  const Clock::time_point begin = Clock::now();
  const Execution execution = target.run(options, plan);
  const Ending ending = judge(program, target, execution, limits.fails_if);
  KeptRun run = keep(program, inputs, target, ending, 1, seconds_since(begin));
  if (ending.failed()) run.trace.stacks = failure_stacks(program, target.channel());
  if (limits.check_determinism) run.leak = find_leak(program, target, options, plan, ending);
  return run;
}

}  // namespace heddle::driver
