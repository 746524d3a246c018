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
  /// a row.
  bool gives_way(const SchedulingPoint& point) {
    if (point.current != thread_) {
      thread_ = point.current;
      looks_ = 0;
    }
    if (point.pending.kind == abi::EventKind::Yield ||
        point.pending.kind == abi::EventKind::Sleep) {
      return true;
    }
    const bool may_spin = point.pending.access == abi::Access::Read ||
                          point.pending.access == abi::Access::Update ||
                          point.pending.kind == abi::EventKind::MutexTrylock;
    looks_ = may_spin ? looks_ + 1 : 0;
    if (looks_ < kLooks) return false;
    looks_ = 0;
    return true;
  }

 private:
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
