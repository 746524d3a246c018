// SPDX-License-Identifier: Apache-2.0
//
// How much is tried to leave out iterations: a program of one thread that goes round two loops and
// fails at the end, if it was answered so at its beginning. All rounds of the first loop are
// needed, of the second none.
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/reduce/reduce.h"

namespace heddle::analysis {
namespace {

using trace::EventKind;

constexpr const char* kNeeded = "count.loop.a";
constexpr const char* kOther = "log.loop.b";

class Loops final : public ReducingOracle {
 public:
  Loops(std::uint32_t needed, std::uint32_t others) : needed_(needed), others_(others) {}

  Attempt failing() {
    trace::Decision answer;
    answer.kind = abi::DecisionKind::Value;
    answer.thread = "t0";
    answer.site = "ask";
    answer.value = 1;
    answer.bound = 2;
    trace::Schedule schedule;
    schedule.decisions = {answer};
    return follow(schedule);
  }

  Attempt follow(const trace::Schedule& schedule) override {
    Attempt attempt;
    attempt.schedule = schedule;
    attempt.trace.threads.push_back({"t0", 0});
    attempt.trace.sites = {{kNeeded, "", {}}, {kOther, "", {}}, {"work", "", {}}, {"ask", "", {}}};
    add(attempt, EventKind::Load, 3, 0);
    bool fails = !schedule.decisions.empty();
    for (std::uint32_t i = 1; i <= needed_; ++i) fails &= round(attempt, 0, i);
    for (std::uint32_t i = 1; i <= others_; ++i) round(attempt, 1, i);
    if (fails) attempt.trace.outcome.kind = abi::FailureKind::Assert;
    return attempt;
  }
  std::vector<Attempt> follow_all(std::span<const BoundedSchedule> schedules) override {
    std::vector<Attempt> attempts;
    for (const BoundedSchedule& bounded : schedules) attempts.push_back(follow(bounded.schedule));
    return attempts;
  }
  Attempt run_sequentially(const trace::Schedule& schedule, std::uint64_t, const Common&) override {
    Attempt attempt = follow(schedule);
    attempt.trace.outcome = {};
    return attempt;
  }
  Attempt wander(const trace::Schedule& schedule, std::uint64_t) override {
    return follow(schedule);
  }
  SearchResult search(const trace::Schedule&, const SearchRequest&) override { return {}; }

 private:
  /// False: it was left out.
  static bool round(Attempt& attempt, trace::SiteIndex loop, std::uint32_t number) {
    const std::string& site = attempt.trace.sites[loop].key;
    const auto& skipped = attempt.schedule.skipped;
    if (std::any_of(skipped.begin(), skipped.end(), [&](const trace::SkippedIterations& skip) {
          return skip.site == site && skip.first <= number && number <= skip.last;
        })) {
      return false;
    }
    add(attempt, EventKind::IterationBegin, loop, number);
    add(attempt, EventKind::Load, 2, number);
    add(attempt, EventKind::IterationEnd, loop, number);
    return true;
  }

  static void add(Attempt& attempt, EventKind kind, trace::SiteIndex site, std::uint32_t value) {
    trace::Event event;
    event.kind = kind;
    event.thread = 0;
    event.site = site;
    event.value = value;
    attempt.trace.events.push_back(event);
  }

  std::uint32_t needed_;
  std::uint32_t others_;
};

Reduction reduced(Loops loops, bool all_iterations = false) {
  ReduceOptions options;
  options.all_iterations = all_iterations;
  return reduce(loops, loops.failing(), options);
}

TEST(ReduceIterations, GivesUpWhenHalfOfTheRunWasExecutedInVain) {
  const Reduction reduction = reduced({3'000, 0});
  EXPECT_TRUE(reduction.gave_up);
  EXPECT_EQ(reduction.after.events, 3'001u);
  // The last trial may be as long as the run.
  EXPECT_GE(reduction.iterations.events_executed, 1'500u);
  EXPECT_LE(reduction.iterations.events_executed, 1'500u + 3'000u);
}

TEST(ReduceIterations, AShortRunMayCostAThousandEvents) {
  const Reduction reduction = reduced({100, 0});
  EXPECT_TRUE(reduction.gave_up);
  EXPECT_GE(reduction.iterations.events_executed, 1'000u);
  EXPECT_LE(reduction.iterations.events_executed, 1'000u + 100u);
}

TEST(ReduceIterations, AllAreTriedIfAskedTo) {
  const Reduction reduction = reduced({100, 0}, true);
  EXPECT_FALSE(reduction.gave_up);
  EXPECT_GE(reduction.iterations.trials, 100u);  // each was left out alone
}

TEST(ReduceIterations, ABlockThatIsASixteenthIsTriedAsAWholeInAnyCase) {
  const Reduction large = reduced({3'000, 250});
  EXPECT_TRUE(large.gave_up);
  EXPECT_EQ(large.after.events, 3'001u);
  const Reduction small = reduced({3'000, 100});
  EXPECT_TRUE(small.gave_up);
  EXPECT_EQ(small.after.events, 3'101u);
}

}  // namespace
}  // namespace heddle::analysis
