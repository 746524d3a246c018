// SPDX-License-Identifier: Apache-2.0
#include "trace/held_locks.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace heddle::trace {
namespace {

constexpr ObjectIndex kOuter = 0, kInner = 1, kCondition = 2;

class HeldLocks : public ::testing::Test {
 protected:
  void add(ThreadId thread, EventKind kind, ObjectIndex object, std::uint64_t value = 0) {
    Event event;
    event.kind = kind;
    event.thread = thread;
    event.site = static_cast<SiteIndex>(trace_.events.size());
    event.object = object;
    event.value = value;
    trace_.events.push_back(event);
  }

  /// (thread, object, event that took it)
  using Expected = std::vector<std::tuple<ThreadId, ObjectIndex, SiteIndex>>;
  Expected held() const {
    Expected result;
    for (const HeldLock& lock : held_locks(trace_)) {
      result.emplace_back(lock.thread, lock.object, lock.site);
    }
    return result;
  }

  Trace trace_;
};

TEST_F(HeldLocks, WhatIsTakenAndNotReleased) {
  add(0, EventKind::MutexLock, kOuter);
  add(1, EventKind::RwlockRead, kInner);
  add(0, EventKind::MutexTrylock, kInner, EBUSY);
  add(1, EventKind::SpinLock, kCondition);
  add(1, EventKind::SpinUnlock, kCondition);
  EXPECT_EQ(held(), (Expected{{0, kOuter, 0}, {1, kInner, 1}}));
}

TEST_F(HeldLocks, RecursiveMutexIsHeldUntilItsLastUnlock) {
  add(0, EventKind::MutexLock, kOuter);
  add(0, EventKind::MutexLock, kOuter);
  add(0, EventKind::MutexUnlock, kOuter);
  EXPECT_EQ(held(), (Expected{{0, kOuter, 0}}));
  add(0, EventKind::MutexUnlock, kOuter);
  EXPECT_EQ(held(), Expected{});
}

TEST_F(HeldLocks, WaitingLetsGoOfTheInnermostMutex) {
  add(0, EventKind::MutexLock, kOuter);
  add(0, EventKind::MutexLock, kInner);
  add(0, EventKind::CondWait, kCondition);
  EXPECT_EQ(held(), (Expected{{0, kOuter, 0}}));
}

TEST_F(HeldLocks, TheMutexLockedAgainIsTheOneLetGo) {
  add(0, EventKind::MutexLock, kOuter);
  add(0, EventKind::MutexLock, kInner);
  add(0, EventKind::CondWait, kCondition);
  add(0, EventKind::MutexLock, kOuter);
  EXPECT_EQ(held(), (Expected{{0, kInner, 1}, {0, kOuter, 3}}));
}

TEST_F(HeldLocks, TheMutexWaitedForIsTheOneLetGo) {
  add(0, EventKind::MutexLock, kOuter);
  add(0, EventKind::MutexLock, kInner);
  add(0, EventKind::CondWait, kCondition);
  trace_.outcome.waits.push_back({EventKind::MutexLock, 0, kNone, kNone, kNone, kOuter, 0});
  EXPECT_EQ(held(), (Expected{{0, kInner, 1}}));
}

TEST_F(HeldLocks, AThreadThatEndedStillHolds) {
  add(1, EventKind::MutexLock, kOuter);
  add(1, EventKind::ThreadExit, kNone);
  EXPECT_EQ(held(), (Expected{{1, kOuter, 0}}));
}

}  // namespace
}  // namespace heddle::trace
