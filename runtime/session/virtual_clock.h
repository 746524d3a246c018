// SPDX-License-Identifier: Apache-2.0
//
// A controlled run has no clock: time moves a little with every look at it and jumps where a thread
// sleeps or times out, so that the same schedule reads the same times. All clocks show this one.
#pragma once

#include <cstdint>
#include <ctime>

namespace heddle::runtime {

class VirtualClock {
 public:
  static constexpr std::int64_t kSecond = 1'000'000'000;

  std::int64_t look() { return now_ += kLook; }
  void advance_by(std::int64_t nanoseconds) {
    if (nanoseconds > 0) now_ += nanoseconds;
  }
  void advance_to(std::int64_t time) { advance_by(time - now_); }
  std::int64_t now() const { return now_; }

  static std::int64_t nanoseconds(const timespec& time) {
    return time.tv_sec * kSecond + time.tv_nsec;
  }

 private:
  static constexpr std::int64_t kLook = 1000;
  std::int64_t now_ = 1'700'000'000 * kSecond;
};

}  // namespace heddle::runtime
