// SPDX-License-Identifier: Apache-2.0
//
// Fairness: strategies that let a thread run as long as it can must notice when it only waits for
// another one by looking again and again, or the run never ends.
#pragma once

#include <cstdint>

#include "runtime/schedule/strategy.h"

namespace heddle::runtime {

class SpinWatch {
 public:
  void begin_run() { *this = SpinWatch(); }

  /// To be asked once at each point: whether the running thread should let others go first. It
  /// said so itself, or has only looked at memory (or tried to change it atomically) many times in
  /// a row, with or without a lock around it.
  bool gives_way(const SchedulingPoint& point) {
    if (point.current != thread_) {
      thread_ = point.current;
      looks_ = 0;
    }
    if (point.pending.kind == abi::EventKind::Yield ||
        point.pending.kind == abi::EventKind::Sleep) {
      return true;
    }
    if (may_spin(point.pending)) {
      ++looks_;
    } else if (point.pending.kind != abi::EventKind::MutexLock &&
               point.pending.kind != abi::EventKind::MutexUnlock) {
      looks_ = 0;
    }
    if (looks_ < kLooks) return false;
    looks_ = 0;
    return true;
  }

 private:
  static bool may_spin(const Pending& pending) {
    return pending.access == abi::Access::Read || pending.access == abi::Access::Update ||
           pending.kind == abi::EventKind::MutexTrylock ||
           pending.kind == abi::EventKind::SpinTrylock ||
           pending.kind == abi::EventKind::SemTrywait;
  }

  /// More than any loop over shared data in the corpus takes, and still soon.
  static constexpr std::uint32_t kLooks = 200;

  abi::ThreadIndex thread_ = abi::kNoThread;
  std::uint32_t looks_ = 0;
};

/// The member of `set` that follows `thread` when its members stand in a circle.
inline abi::ThreadIndex next_in_circle(const ThreadSet& set, abi::ThreadIndex thread) {
  abi::ThreadIndex next = abi::kNoThread;
  set.for_each([&](abi::ThreadIndex member) {
    if (member > thread && next == abi::kNoThread) next = member;
  });
  return next == abi::kNoThread ? set.nth(0) : next;
}

}  // namespace heddle::runtime
