// SPDX-License-Identifier: Apache-2.0
//
// A controlled run has no clock: time moves a little with every look at it and jumps where a thread
// sleeps or times out, so that the same schedule reads the same times. All clocks show this one.
// Only in a recorded run, which is not controlled, does it go by itself.
//
// Each look moves it a little further than the one before, since a program that looks often waits
// for time to pass (works until a second is over) or measures what takes none.
#pragma once

#include <cstdint>
#include <ctime>

#include "runtime/base/system.h"

namespace heddle::runtime {

class VirtualClock {
 public:
  static constexpr std::int64_t kSecond = 1'000'000'000;

  /// From now on the clock goes by itself, and nobody moves it.
  void run_by_itself() { started_ = monotonic(); }
  /// From now on it shows `time` until somebody moves it.
  void stand_still(std::int64_t time) {
    started_ = 0;
    now_ = time;
  }
  std::int64_t look() {
    if (started_ != 0) return now();
    if (step_ < kLargestStep) step_ += kSmallestStep;
    return now_ += step_;
  }
  void advance_by(std::int64_t nanoseconds) {
    if (nanoseconds > 0 && started_ == 0) now_ += nanoseconds;
  }
  void advance_to(std::int64_t time) { advance_by(time - now_); }
  std::int64_t now() const { return started_ == 0 ? now_ : now_ + (monotonic() - started_); }

  static std::int64_t nanoseconds(const timespec& time) {
    return time.tv_sec * kSecond + time.tv_nsec;
  }

 private:
  static std::int64_t monotonic() {
    timespec time{};
    raw_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, reinterpret_cast<long>(&time));
    return nanoseconds(time);
  }

  static constexpr std::int64_t kSmallestStep = 1000;
  static constexpr std::int64_t kLargestStep = kSecond / 1000;
  std::int64_t started_ = 0;  // 0: it does not go by itself
  std::int64_t step_ = 0;
  std::int64_t now_ = 1'700'000'000 * kSecond;
};

}  // namespace heddle::runtime
