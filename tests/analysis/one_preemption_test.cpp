// SPDX-License-Identifier: Apache-2.0
#include "analysis/reduce/one_preemption.h"

#include <gtest/gtest.h>

#include "tests/analysis/small_trace.h"

namespace heddle::analysis {
namespace {

using trace::EventKind;

std::string first_guess_of(const Attempt& run) {
  const std::vector<trace::Schedule> guesses = with_one_preemption(run, 8);
  if (guesses.empty()) return "none";
  const trace::Decision& decision = guesses[0].decisions.back();
  return decision.thread + " " + decision.site + " -> " + decision.target;
}

trace::Decision preemption(const std::string& thread, const std::string& site,
                           std::uint64_t ordinal, const std::string& target) {
  trace::Decision decision;
  decision.thread = thread;
  decision.site = site;
  decision.ordinal = ordinal;
  decision.preemption = true;
  decision.target = target;
  return decision;
}

TEST(OnePreemption, BetweenAnAccessAndWhatItsThreadDoesNext) {
  SmallTrace trace;
  trace.writes(1, "clear", "v").reads(2, "use", "v").writes(1, "free", "w");
  EXPECT_EQ(first_guess_of({trace.trace(), {}, {}, {}}), "t0.1 free -> t0.2");
}

TEST(OnePreemption, WhereTheThreadStoodWhenTheRunEnded) {
  SmallTrace trace;
  trace.writes(1, "clear", "v").reads(2, "use", "v");
  Attempt run{trace.trace(), {}, {}, {}};
  EXPECT_EQ(first_guess_of(run), "none");  // it is not known what t0.1 was about to do
  run.schedule.decisions = {preemption("t0.1", "free", 2, "t0.2")};
  EXPECT_EQ(first_guess_of(run), "t0.1 free -> t0.2");
  run.schedule.decisions[0].ordinal = 1;  // it was interrupted before, not there
  EXPECT_EQ(first_guess_of(run), "none");
}

TEST(OnePreemption, NotWhereAnIterationBegins) {
  SmallTrace trace;
  trace.writes(1, "clear", "v").reads(2, "use", "v");
  trace.access(1, "f.loop.x", EventKind::IterationBegin, "v", 0, 0).writes(1, "free", "w");
  EXPECT_EQ(first_guess_of({trace.trace(), {}, {}, {}}), "t0.1 free -> t0.2");
}

TEST(OnePreemption, InsideASectionOnlyIfTheOtherDoesNotWaitForIt) {
  SmallTrace alone;
  alone.access(1, "lock", EventKind::MutexLock, "m", 0, 0).reads(1, "look", "v");
  alone.writes(2, "change", "v").reads(1, "again", "v");
  alone.access(1, "unlock", EventKind::MutexUnlock, "m", 0, 0).reads(1, "behind", "w");
  EXPECT_EQ(first_guess_of({alone.trace(), {}, {}, {}}), "t0.1 again -> t0.2");

  SmallTrace both;
  both.access(1, "lock", EventKind::MutexLock, "m", 0, 0).reads(1, "look", "v");
  both.access(1, "unlock", EventKind::MutexUnlock, "m", 0, 0);
  both.access(2, "lock2", EventKind::MutexLock, "m", 0, 0).writes(2, "change", "v");
  both.access(2, "unlock2", EventKind::MutexUnlock, "m", 0, 0).reads(1, "behind", "w");
  for (const trace::Schedule& guess : with_one_preemption({both.trace(), {}, {}, {}}, 8)) {
    EXPECT_NE(guess.decisions.back().site, "unlock");
  }
}

}  // namespace
}  // namespace heddle::analysis
