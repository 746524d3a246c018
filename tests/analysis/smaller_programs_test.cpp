// SPDX-License-Identifier: Apache-2.0
#include "analysis/reduce/smaller_programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace heddle::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A run of t0 and its children; child number `failing` fails. Each did `rounds` iterations.
Attempt run_of(unsigned children, unsigned failing, std::uint32_t rounds) {
  Attempt attempt;
  trace::Trace& trace = attempt.trace;
  trace.sites.push_back({"worker+2.loop.aaaa", "", {}});
  trace.threads.push_back({"t0", 0});
  for (unsigned i = 1; i <= children; ++i) trace.threads.push_back({"t0." + std::to_string(i), 0});
  for (trace::ThreadId thread = 1; thread <= children; ++thread) {
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      for (const auto kind : {trace::EventKind::IterationBegin, trace::EventKind::IterationEnd}) {
        trace::Event event;
        event.kind = kind;
        event.thread = thread;
        event.site = 0;
        event.value = round;
        trace.events.push_back(event);
      }
    }
  }
  trace.outcome.kind = abi::FailureKind::Assert;
  trace.outcome.thread = failing;
  return attempt;
}

TEST(SmallerPrograms, KeepTheFailingThreadAndFewOthers) {
  const Attempt run = run_of(3, 2, 0);
  const std::vector<LeftOut> programs = smaller_programs(run, {});
  ASSERT_THAT(programs, SizeIs(4));
  // Its two neighbours alone with it, then all but one.
  for (const LeftOut& program : programs) {
    EXPECT_THAT(program.threads, SizeIs(1));
    EXPECT_NE(program.threads[0], "t0.2");
  }
}

TEST(SmallerPrograms, KeepOneIterationOfEach) {
  const std::vector<LeftOut> programs = smaller_programs(run_of(2, 1, 3), {});
  ASSERT_FALSE(programs.empty());
  EXPECT_THAT(programs[0].threads, IsEmpty());
  std::vector<std::pair<std::string, std::uint32_t>> gone;
  for (const Iteration& iteration : programs[0].iterations) {
    gone.emplace_back(iteration.thread, iteration.number);
  }
  EXPECT_THAT(gone, ElementsAre(std::pair("t0.1", 1u), std::pair("t0.1", 2u), std::pair("t0.2", 1u),
                                std::pair("t0.2", 2u)));
}

TEST(SmallerPrograms, AreNoneWhereThereIsNobodyLeftToRaceWith) {
  EXPECT_THAT(smaller_programs(run_of(1, 1, 0), {}), IsEmpty());
  LeftOut already;
  already.threads = {"t0.2", "t0.3"};
  EXPECT_THAT(smaller_programs(run_of(3, 1, 0), already), IsEmpty());
}

TEST(SmallerPrograms, OfADeadlockKeepWhoWaitsAndWhoHolds) {
  Attempt run = run_of(4, 1, 0);
  run.trace.outcome.kind = abi::FailureKind::Deadlock;
  run.trace.outcome.thread = trace::kNone;
  trace::Wait wait;
  wait.thread = 1;
  wait.holder = 3;
  run.trace.outcome.waits = {wait};
  for (const LeftOut& program : smaller_programs(run, {})) {
    for (const std::string& thread : program.threads) {
      EXPECT_NE(thread, "t0.1");
      EXPECT_NE(thread, "t0.3");
    }
  }
}

}  // namespace
}  // namespace heddle::analysis
