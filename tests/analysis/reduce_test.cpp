// SPDX-License-Identifier: Apache-2.0
//
// The reducer against a toy program: main and n workers; it fails when worker `culprit` is
// preempted at its decision "race" and worker `partner` exists. It can also be made to fail
// whenever a helper thread's work is missing, which criterion II has to notice.
#include "analysis/reduce/reduce.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "trace/counts.h"

namespace heddle::analysis {
namespace {

class ToyOracle final : public Oracle {
 public:
  std::vector<std::string> threads = {"t0", "t0.1", "t0.2", "t0.2.1", "t0.3", "t0.4"};
  std::string needed_for_work;  // without it the program fails however it is scheduled
  int executions = 0;

  Attempt follow(const trace::Schedule& schedule) override {
    ++executions;
    Attempt attempt;
    attempt.schedule = schedule;
    const auto runs = [&](const std::string& thread) {
      return std::none_of(schedule.absent_threads.begin(), schedule.absent_threads.end(),
                          [&](const std::string& gone) {
                            return thread == gone || thread.starts_with(gone + ".");
                          });
    };
    for (const std::string& thread : threads) attempt.trace.threads.push_back({thread, 0});
    const bool raced =
        runs("t0.1") && runs("t0.2.1") &&
        std::any_of(schedule.decisions.begin(), schedule.decisions.end(),
                    [](const trace::Decision& decision) { return decision.site == "race"; });
    const bool work_missing = !needed_for_work.empty() && !runs(needed_for_work);
    if (raced || work_missing) {
      attempt.trace.outcome.kind = abi::FailureKind::Assert;
      attempt.trace.outcome.file = "toy.c";
      attempt.trace.outcome.line = 3;
      attempt.trace.outcome.function = "check";
    }
    return attempt;
  }

  Attempt failing() {
    trace::Schedule schedule;
    for (const char* site : {"a", "b", "race", "c", "d", "e"}) {
      trace::Decision decision;
      decision.thread = "t0.1";
      decision.site = site;
      decision.target = site[0] == 'c' ? "t0.3" : "t0.2.1";
      decision.preemption = true;
      schedule.decisions.push_back(decision);
    }
    return follow(schedule);
  }
};

trace::Schedule without(const std::string& thread) {
  trace::Schedule schedule;
  schedule.absent_threads = {thread};
  return schedule;
}

TEST(Reduce, KeepsOnlyTheThreadsAndSwitchesThatAreNeeded) {
  ToyOracle oracle;
  const Reduction reduction = reduce(oracle, oracle.failing(), {});
  EXPECT_EQ(reduction.removed_threads, (std::vector<std::string>{"t0.3", "t0.4"}));
  EXPECT_EQ(reduction.after.threads, 4u);  // t0.2 stays: its child is needed
  EXPECT_EQ(reduction.after.preemptions, 1u);
  EXPECT_EQ(reduction.best.schedule.decisions.at(0).site, "race");
  EXPECT_TRUE(reduction.sequential_passes);
  EXPECT_EQ(reduction.before.preemptions, 6u);
}

TEST(Reduce, AThreadWhoseWorkIsMissedIsNotRemoved) {
  ToyOracle oracle;
  oracle.needed_for_work = "t0.4";
  const Reduction reduction = reduce(oracle, oracle.failing(), {});
  EXPECT_EQ(reduction.removed_threads, (std::vector<std::string>{"t0.3"}));
  EXPECT_EQ(reduction.best.schedule.absent_threads, reduction.removed_threads);
}

TEST(Reduce, NothingThatTheSequentialRunRefusesIsKept) {
  ToyOracle oracle;
  oracle.threads = {"t0", "t0.1"};  // without t0.1 its work is missing: the same assertion fails
  oracle.needed_for_work = "t0.1";
  Attempt original = oracle.failing();
  original.trace.outcome = oracle.follow(without("t0.1")).trace.outcome;
  class FailsAnyway final : public Oracle {
   public:
    explicit FailsAnyway(ToyOracle& inner) : inner_(inner) {}
    Attempt follow(const trace::Schedule& schedule) override {
      Attempt attempt = inner_.follow(schedule);
      if (!schedule.decisions.empty()) {
        attempt.trace.outcome = inner_.follow(without("t0.1")).trace.outcome;
      }
      return attempt;
    }

   private:
    ToyOracle& inner_;
  } oracle_with_race(oracle);
  const Reduction reduction = reduce(oracle_with_race, original, {});
  EXPECT_TRUE(reduction.best.schedule.absent_threads.empty());
  EXPECT_EQ(reduction.after.threads, 2u);
}

TEST(Reduce, SaysWhenTheOriginalFailsSequentially) {
  ToyOracle oracle;
  oracle.needed_for_work = "nobody";
  class AlwaysFails final : public Oracle {
   public:
    explicit AlwaysFails(ToyOracle& inner) : inner_(inner) {}
    Attempt follow(const trace::Schedule& schedule) override {
      Attempt attempt = inner_.follow(schedule);
      attempt.trace.outcome = inner_.failing().trace.outcome;
      return attempt;
    }

   private:
    ToyOracle& inner_;
  } always(oracle);
  const Reduction reduction = reduce(always, oracle.failing(), {});
  EXPECT_FALSE(reduction.sequential_passes);
  EXPECT_EQ(reduction.after.threads, 1u + 1u);  // t0.2.1 counts as long as its parent is gone
}

TEST(Reduce, StopsWhenAskedAndKeepsTheBest) {
  ToyOracle oracle;
  const Attempt original = oracle.failing();
  int asked = 0;
  ReduceOptions options;
  options.stop = [&] { return ++asked > 3; };
  const Reduction reduction = reduce(oracle, original, options);
  EXPECT_TRUE(reduction.stopped);
  EXPECT_EQ(trace::signature(reduction.best.trace), trace::signature(original.trace));
}

TEST(Reduce, RefusesWhatDoesNotFailOrDoesNotComeBack) {
  ToyOracle oracle;
  EXPECT_THROW(reduce(oracle, oracle.follow({}), {}), Error);
  Attempt lost = oracle.failing();
  lost.schedule.decisions.clear();
  EXPECT_THROW(reduce(oracle, lost, {}), Error);
}

}  // namespace
}  // namespace heddle::analysis
