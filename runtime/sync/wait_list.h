// SPDX-License-Identifier: Apache-2.0
//
// Threads that wait until somebody wakes them, in the order in which they began to wait. Kept
// outside the program's memory: a thread may free what others waited for as soon as it has woken
// them.
#pragma once

#include "runtime/base/vector.h"
#include "runtime/session/session.h"

namespace heddle::runtime {

class WaitList {
 public:
  static constexpr std::uint32_t kAnyBit = 0xffffffff;

  void add(std::uint64_t address, abi::ThreadIndex thread, std::uint32_t bits = kAnyBit) {
    waiters_.push_back({address, bits, thread});
  }

  bool contains(abi::ThreadIndex thread) const {
    for (const Waiter& waiter : waiters_) {
      if (waiter.thread == thread) return true;
    }
    return false;
  }

  void remove(abi::ThreadIndex thread) {
    for (std::size_t i = 0; i < waiters_.size(); ++i) {
      if (waiters_[i].thread == thread) return waiters_.erase(i);
    }
  }

  std::uint32_t count(std::uint64_t address, std::uint32_t bits = kAnyBit) const {
    std::uint32_t count = 0;
    for (const Waiter& waiter : waiters_) count += matches(waiter, address, bits);
    return count;
  }

  /// Wakes one of those who wait for `address`; which of several is the strategy's decision.
  abi::ThreadIndex wake_one(Session& session, std::uint64_t address, std::uint32_t bits = kAnyBit) {
    const std::uint32_t waiting = count(address, bits);
    if (waiting == 0) return abi::kNoThread;
    std::uint32_t n = waiting > 1 ? session.choose_value(waiting) : 0;
    for (std::size_t i = 0;; ++i) {
      if (!matches(waiters_[i], address, bits) || n-- != 0) continue;
      const abi::ThreadIndex thread = waiters_[i].thread;
      waiters_.erase(i);
      session.refresh_thread(thread);
      return thread;
    }
  }

  /// Wakes up to `limit`; returns how many. Asks nobody when all are to be woken.
  std::uint32_t wake(Session& session, std::uint64_t address, std::uint32_t limit,
                     std::uint32_t bits = kAnyBit) {
    std::uint32_t woken = 0;
    if (limit >= count(address, bits)) {
      for (std::size_t i = 0; i < waiters_.size();) {
        if (!matches(waiters_[i], address, bits)) {
          ++i;
          continue;
        }
        const abi::ThreadIndex thread = waiters_[i].thread;
        waiters_.erase(i);
        session.refresh_thread(thread);
        ++woken;
      }
      return woken;
    }
    while (woken < limit && wake_one(session, address, bits) != abi::kNoThread) ++woken;
    return woken;
  }

  /// The first `limit` of those who wait at `from` wait at `to` from now on; returns how many.
  std::uint32_t move(std::uint64_t from, std::uint64_t to, std::uint32_t limit) {
    std::uint32_t moved = 0;
    for (Waiter& waiter : waiters_) {
      if (moved == limit) break;
      if (waiter.address != from) continue;
      waiter.address = to;
      ++moved;
    }
    return moved;
  }

 private:
  struct Waiter {
    std::uint64_t address;
    std::uint32_t bits;
    abi::ThreadIndex thread;
  };

  static bool matches(const Waiter& waiter, std::uint64_t address, std::uint32_t bits) {
    return waiter.address == address && (waiter.bits & bits) != 0;
  }

  Vector<Waiter> waiters_;
};

}  // namespace heddle::runtime
