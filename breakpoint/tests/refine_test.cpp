// SPDX-License-Identifier: Apache-2.0
//
// Refinements: which arrivals count at all.
#include <gtest/gtest.h>
#include <heddle/breakpoint.h>

#include <atomic>
#include <mutex>

#include "threads.h"

namespace {

using heddle::breakpoint_stats;

/// Both sides at once; the refinement is applied to both. Returns the number of hits.
template <class Refine>
std::uint64_t meet(const char* name, const Refine& refine) {
  int object = 0;
  run_all([&] { refine(heddle::conflict(name, &object)).first(); },
          [&] { refine(heddle::conflict(name, &object)).second(); });
  return breakpoint_stats(name).hits;
}

TEST(Refine, WhenIsTheLocalPredicate) {
  EXPECT_EQ(meet("when true", [](auto t) { return t.pause(kForever).when([] { return true; }); }),
            1u);
  EXPECT_EQ(meet("when false", [](auto t) { return t.pause(kForever).when([] { return false; }); }),
            0u);
  EXPECT_EQ(breakpoint_stats("when false").arrivals, 0u);
}

TEST(Refine, WhenIsNotCalledWhileDisabled) {
  bool called = false;
  heddle::enable_breakpoints(false);
  EXPECT_EQ(meet("disabled", [&](auto t) { return t.when([&] { return called = true; }); }), 0u);
  heddle::enable_breakpoints(true);
  EXPECT_FALSE(called);
  EXPECT_EQ(meet("disabled", [&](auto t) { return t.pause(kForever); }), 1u);
}

TEST(Refine, DisablingEndsPauses) {
  int object = 0;
  std::atomic<bool> went_on{false};
  std::thread postponed([&] {
    heddle::conflict("switched off", &object).pause(kForever).first();
    went_on = true;
  });
  wait_until([] { return breakpoint_stats("switched off").arrivals == 1; });
  heddle::enable_breakpoints(false);
  // Not joined yet: main keeps running, so that only the switch can end the pause.
  wait_until([&] { return went_on.load(); });
  postponed.join();
  heddle::enable_breakpoints(true);
  EXPECT_EQ(breakpoint_stats("switched off").hits, 0u);
}

TEST(Refine, ActionsRunWithoutAHitAndWhileDisabled) {
  int object = 0;
  int ran = 0;
  EXPECT_FALSE(heddle::conflict("alone", &object).first([&] { ++ran; }));
  heddle::enable_breakpoints(false);
  EXPECT_FALSE(heddle::conflict("alone", &object).first([&] { ++ran; }));
  heddle::enable_breakpoints(true);
  EXPECT_EQ(ran, 2);
}

TEST(Refine, IgnoreFirstPassesThatManyArrivalsAtEachSide) {
  int object = 0;
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(heddle::conflict("ignored", &object).pause(kForever).ignore_first(3).first());
  }
  EXPECT_EQ(breakpoint_stats("ignored").ignored, 3u);
  EXPECT_EQ(breakpoint_stats("ignored").abandoned, 0u);
  // The fourth is postponed, and met.
  bool hit = false;
  run_all(
      [&] { hit = heddle::conflict("ignored", &object).pause(kForever).ignore_first(3).first(); },
      [&] { heddle::conflict("ignored", &object).pause(kForever).second(); });
  EXPECT_TRUE(hit);
}

TEST(Refine, BoundEndsTheBreakpoint) {
  auto bounded = [](auto t) { return t.pause(kForever).bound(2); };
  EXPECT_EQ(meet("bounded", bounded), 1u);
  EXPECT_EQ(meet("bounded", bounded), 2u);
  EXPECT_EQ(meet("bounded", bounded), 2u);
  EXPECT_EQ(breakpoint_stats("bounded").arrivals, 4u);  // over: counts no more
}

TEST(Refine, ReachingTheBoundEndsPausesInVain) {
  int object = 0;
  auto trigger = [&] { return heddle::conflict("in vain", &object).pause(kForever).bound(1); };
  std::thread one([&] { trigger().first(); });
  std::thread two([&] { trigger().first(); });
  wait_until([] { return breakpoint_stats("in vain").arrivals == 2; });
  std::thread partner([&] { trigger().second(); });
  // Spins instead of joining: the pause that is left over must end for the bound alone.
  wait_until([] {
    auto stats = breakpoint_stats("in vain");
    return stats.hits == 1 && stats.abandoned + stats.ignored == 1;
  });
  one.join();
  two.join();
  partner.join();
}

TEST(Refine, GiveUpStopsPausingForASideThatNeverComes) {
  int object = 0;
  for (int i = 0; i < 5; ++i) {
    heddle::conflict("never", &object).pause(std::chrono::milliseconds(1)).give_up(2).first();
  }
  auto stats = breakpoint_stats("never");
  EXPECT_EQ(stats.timeouts + stats.abandoned, 2u);
  EXPECT_EQ(stats.arrivals, 2u);
}

TEST(Refine, ZeroPauseMeetsOnlyThoseAlreadyPostponed) {
  int object = 0;
  auto quick = [&] {
    return heddle::conflict("quick", &object).pause(std::chrono::seconds(0)).second();
  };
  EXPECT_FALSE(quick());
  bool hit = false;
  run_all([&] { heddle::conflict("quick", &object).pause(kForever).first(); },
          [&] { wait_until([&] { return hit = quick(); }); });
  EXPECT_TRUE(hit);
}

TEST(Refine, WhileHoldingALockByGuardOrTold) {
  std::mutex mutex, other;
  int object = 0;
  auto arrivals = [&](auto lock) {
    auto before = breakpoint_stats("held").arrivals;
    heddle::conflict("held", &object)
        .pause(std::chrono::milliseconds(1))
        .while_holding(lock)
        .first();
    return breakpoint_stats("held").arrivals - before;
  };
  EXPECT_EQ(arrivals(&mutex), 0u);
  {
    heddle::HoldingLock<std::mutex> guard(mutex, "caret");
    EXPECT_FALSE(mutex.try_lock());
    EXPECT_EQ(arrivals(&mutex), 1u);
    EXPECT_EQ(arrivals(&other), 0u);
    EXPECT_EQ(arrivals("caret"), 1u);
    EXPECT_EQ(arrivals("other"), 0u);
    std::thread([&] { EXPECT_EQ(arrivals(&mutex), 0u); }).join();  // another thread holds nothing
  }
  EXPECT_TRUE(mutex.try_lock());
  {
    heddle::Holding told(&mutex);
    EXPECT_EQ(arrivals(&mutex), 1u);
  }
  mutex.unlock();
  EXPECT_EQ(arrivals(&mutex), 0u);
}

TEST(Refine, LocksNeedNotBeReleasedInOrder) {
  int a = 0, b = 0;
  heddle_bp_scope first, second;
  heddle_bp_scope_enter(&first, &a, nullptr);
  heddle_bp_scope_enter(&second, &b, nullptr);
  heddle_bp_scope_leave(&first);
  EXPECT_FALSE(heddle_bp_in_scope(&a, nullptr, 1));
  EXPECT_TRUE(heddle_bp_in_scope(&b, nullptr, 1));
  heddle_bp_scope_leave(&second);
  EXPECT_FALSE(heddle_bp_in_scope(&b, nullptr, 1));
}

TEST(Refine, UnderACallingContext) {
  auto arrives = [] {
    auto before = breakpoint_stats("context").arrivals;
    heddle::breakpoint("context").pause(std::chrono::milliseconds(1)).under("repaint").first();
    return breakpoint_stats("context").arrivals > before;
  };
  EXPECT_FALSE(arrives());
  {
    heddle::Context outer("repaint");
    heddle::Context inner("layout");
    EXPECT_TRUE(arrives());
  }
  {
    heddle::Context other("layout");
    EXPECT_FALSE(arrives());
  }
  EXPECT_FALSE(arrives());
}

TEST(Refine, AfterChainsBreakpoints) {
  auto chained = [](auto t) { return t.pause(kForever).after("link 1"); };
  EXPECT_EQ(meet("link 2", chained), 0u);
  EXPECT_EQ(meet("link 1", [](auto t) { return t.pause(kForever); }), 1u);
  EXPECT_EQ(meet("link 2", chained), 1u);
}

TEST(Refine, NotMatchingTakesNoLock) {
  int object = 0;
  auto pass = [&] {
    heddle::conflict("lock-free", &object).pause(kForever).when([] { return false; }).first();
    heddle::conflict("lock-free", &object).pause(kForever).ignore_first(1000).first();
    heddle::conflict("lock-free", &object).pause(kForever).after("never hit").second();
    heddle::conflict("lock-free", &object).pause(kForever).under("no such context").second();
  };
  pass();  // the name is registered now
  heddle_bp_lock();
  std::thread(pass).join();  // would never end if it needed the lock
  heddle_bp_leave_locked();
  EXPECT_EQ(breakpoint_stats("lock-free").arrivals, 4u);
}

}  // namespace
