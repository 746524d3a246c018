// SPDX-License-Identifier: Apache-2.0
//
// The order of accesses to memory in a recorded run. Memory is divided among stripes; who holds a
// stripe is alone with its memory, and learns how many were there before. There is no lock that all
// share.
#pragma once

#include "abi/recording.h"
#include "runtime/base/system.h"

namespace heddle::runtime {

/// A lock of the runtime's own. Held for a few instructions: whoever finds it taken tries again.
class SpinLock {
 public:
  void lock() {
    for (unsigned tries = 1; __atomic_exchange_n(&taken_, 1, __ATOMIC_ACQUIRE) != 0; ++tries) {
      while (__atomic_load_n(&taken_, __ATOMIC_RELAXED) != 0 && tries % kTries != 0) {
        ++tries;
        __builtin_ia32_pause();
      }
      if (tries % kTries == 0) raw_syscall(SYS_sched_yield);  // its holder may not be running
    }
  }
  void unlock() { __atomic_store_n(&taken_, 0, __ATOMIC_RELEASE); }

 private:
  static constexpr unsigned kTries = 128;
  std::uint32_t taken_ = 0;
};

struct Stripe {
  SpinLock lock;
  std::uint64_t visits = 0;
};

/// The stripes one operation holds, locked in ascending order so that two operations never wait for
/// each other. Of a longer range the first lines stand for all.
class HeldStripes {
 public:
  static constexpr unsigned kMost = 64;

  void lock(Stripe* stripes, std::uint64_t address, std::uint64_t bytes) {
    const std::uint64_t last = (address + (bytes == 0 ? 0 : bytes - 1)) / abi::kStripeBytes;
    for (std::uint64_t line = address / abi::kStripeBytes; line <= last && count_ < kMost; ++line) {
      insert(abi::stripe_of(line * abi::kStripeBytes));
    }
    for (unsigned i = 0; i < count_; ++i) stripes[numbers_[i]].lock.lock();
  }
  void unlock(Stripe* stripes) {
    for (unsigned i = 0; i < count_; ++i) stripes[numbers_[i]].lock.unlock();
    count_ = 0;
  }
  bool any() const { return count_ != 0; }
  const std::uint16_t* begin() const { return numbers_; }
  const std::uint16_t* end() const { return numbers_ + count_; }

 private:
  void insert(std::uint16_t number) {
    unsigned at = count_;
    while (at > 0 && numbers_[at - 1] > number) --at;
    if (at > 0 && numbers_[at - 1] == number) return;
    for (unsigned i = count_; i > at; --i) numbers_[i] = numbers_[i - 1];
    numbers_[at] = number;
    ++count_;
  }

  std::uint16_t numbers_[kMost] = {};
  unsigned count_ = 0;
};

}  // namespace heddle::runtime
