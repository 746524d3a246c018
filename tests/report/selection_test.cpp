// SPDX-License-Identifier: Apache-2.0
#include "report/text/selection.h"

#include <gtest/gtest.h>

#include "sample_traces.h"

namespace heddle::report {
namespace {

TEST(Selection, TellsShortTracesWhole) {
  std::vector<Row> rows = select_rows(sample::lost_update(), 60);
  ASSERT_EQ(rows.size(), 14u);
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i], (Row{i, 1, false}));
}

TEST(Selection, AccountsForEveryEventOnce) {
  trace::Trace trace = sample::eight_threads();
  for (std::size_t limit : {1u, 5u, 20u, 60u, 200u, 1000u}) {
    std::size_t next = 0, told = 0;
    for (const Row& row : select_rows(trace, limit)) {
      EXPECT_EQ(row.first, next);
      EXPECT_TRUE(row.left_out ? row.count > 1 : row.count == 1);
      next += row.count;
      told += row.left_out ? 0 : 1;
    }
    EXPECT_EQ(next, trace.events.size());
    EXPECT_LE(told, limit + 1 + limit / 4) << "single events between told ones are told as well";
  }
}

TEST(Selection, KeepsSwitchesAndTheEnd) {
  trace::Trace trace = sample::eight_threads();
  std::vector<bool> told(trace.events.size());
  for (const Row& row : select_rows(trace, 60))
    if (!row.left_out) told[row.first] = true;
  for (std::size_t i = 1; i < trace.events.size(); ++i) {
    if (trace.events[i].thread == trace.events[i - 1].thread) continue;
    EXPECT_TRUE(told[i] && told[i - 1]) << i;
  }
  EXPECT_TRUE(told.back());
}

TEST(Selection, OfTooManySwitchesKeepsTheLast) {
  trace::Trace trace = sample::lost_update();
  trace.events.clear();
  for (trace::ThreadId i = 0; i < 1000; ++i) {
    trace::Event event;
    event.kind = trace::EventKind::Yield;
    event.thread = i % 2;
    trace.events.push_back(event);
  }
  std::vector<Row> rows = select_rows(trace, 60);
  ASSERT_EQ(rows.size(), 61u);
  EXPECT_EQ(rows.front(), (Row{0, 940, true}));
  EXPECT_EQ(rows.back(), (Row{999, 1, false}));
}

TEST(Selection, KeepsTheEndOfARunWithoutSwitches) {
  trace::Trace trace = sample::deadlock();
  trace.events.assign(100, trace.events[0]);
  std::vector<Row> rows = select_rows(trace, 60);
  ASSERT_EQ(rows.size(), 7u);
  EXPECT_EQ(rows[0], (Row{0, 94, true}));
}

TEST(Selection, LeavesNoSingleEventOut) {
  trace::Trace trace = sample::deadlock();
  trace.events.assign(100, trace.events[0]);
  for (std::size_t i = 0; i < 100; ++i) trace.events[i].thread = i / 5 % 2;
  EXPECT_EQ(select_rows(trace, 90).size(), 98u) << "only the first three are left out";
}

TEST(Selection, FindsTheFailingEvent) {
  EXPECT_EQ(failing_event(sample::lost_update()), 13u);
  EXPECT_EQ(failing_event(sample::use_after_free()), 6u);
  EXPECT_EQ(failing_event(sample::deadlock()), std::nullopt);
  trace::Trace waiting = sample::deadlock();
  waiting.outcome.thread = 1;
  EXPECT_EQ(failing_event(waiting), std::nullopt) << "it is what it waits for, not what it did";
  trace::Trace passed = sample::lost_update();
  passed.outcome.kind = trace::FailureKind::None;
  EXPECT_EQ(failing_event(passed), std::nullopt);
}

TEST(Selection, TellsAndCountsOnlyWhatIsShown) {
  trace::Trace trace = sample::lost_update();
  std::vector<bool> shown(trace.events.size(), true);
  shown[1] = false;
  for (const Row& row : select_rows(trace, 60, shown)) EXPECT_NE(row.first, 1u);
  EXPECT_EQ(select_rows(trace, 60, shown).size(), trace.events.size() - 1);
  std::size_t events = 0;
  for (const Row& row : select_rows(trace, 2, shown)) events += row.count;
  EXPECT_EQ(events, trace.events.size() - 1);
}

}  // namespace
}  // namespace heddle::report
