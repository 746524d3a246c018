// SPDX-License-Identifier: Apache-2.0
//
// Schedules: one chosen interleaving.
#include <gtest/gtest.h>
#include <heddle/breakpoint.h>

#include <string>

#include "threads.h"

namespace {

TEST(Schedule, PointsArePassedInOrderWhateverTheThreads) {
  for (int round = 0; round < 50; ++round) {
    heddle::Schedule schedule("order", {"a", "b", "c", "d", "b"}, kForever);
    std::string log;  // needs no lock: the schedule orders the accesses
    auto step = [&](const char* point) { schedule.step(point, [&] { log += point; }); };
    run_all(
        [&] {
          step("b");
          step("d");
        },
        [&] {
          step("a");
          step("c");
          step("b");
        });
    EXPECT_EQ(log, "abcdb");
    EXPECT_TRUE(schedule.followed());
  }
  EXPECT_EQ(heddle::breakpoint_stats("order").hits, 50u);
}

TEST(Schedule, PointsAreInstants) {
  heddle::Schedule schedule("instants", {"written", "before read"}, kForever);
  int value = 0, seen = 0;
  run_all(
      [&] {
        schedule.point("before read");
        seen = value;
      },
      [&] {
        value = 1;
        schedule.point("written");
      });
  EXPECT_EQ(seen, 1);
}

TEST(Schedule, APointNobodyReachesBreaksTheSchedule) {
  heddle::Schedule schedule("broken", {"never", "b", "c"}, kForever);
  run_all([&] { schedule.point("b"); }, [&] { schedule.point("c"); });
  EXPECT_FALSE(schedule.followed());
  auto stats = heddle::breakpoint_stats("broken");
  EXPECT_EQ(stats.hits, 0u);
  EXPECT_EQ(stats.abandoned, 1u);  // one pause in vain, not one for each point
}

TEST(Schedule, UnfinishedIsNotFollowed) {
  heddle::Schedule schedule("unfinished", {"a", "b"}, kForever);
  schedule.point("a");
  EXPECT_FALSE(schedule.followed());
}

TEST(Schedule, OtherPointsPass) {
  heddle::Schedule schedule("other", {"a"}, kForever);
  schedule.point("not in it");
  schedule.point("a");
  schedule.point("a");  // one more than named
  EXPECT_TRUE(schedule.followed());
}

TEST(Schedule, AStepThatThrowsIsPassed) {
  heddle::Schedule schedule("throws", {"a", "b"}, kForever);
  EXPECT_THROW(schedule.step("a", [] { throw 1; }), int);
  schedule.point("b");
  EXPECT_TRUE(schedule.followed());
}

TEST(Schedule, SharesNoNameWithABreakpoint) {
  heddle::breakpoint("shared name").pause(std::chrono::milliseconds(1)).first();
  testing::internal::CaptureStderr();
  heddle::Schedule schedule("shared name", {"never", "b"}, kForever);
  schedule.point("b");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("same name"), std::string::npos);
  EXPECT_FALSE(schedule.followed());
}

}  // namespace
