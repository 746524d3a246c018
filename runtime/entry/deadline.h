// SPDX-License-Identifier: Apache-2.0
//
// What libc refuses as a time limit. (A mutex looks at the time only if it would have to wait.)
#pragma once

#include <ctime>

#include "runtime/session/virtual_clock.h"

namespace heddle::runtime {

inline bool is_time(const timespec& time) {
  return time.tv_nsec >= 0 && time.tv_nsec < VirtualClock::kSecond;
}

/// Other clocks cannot be waited for.
inline bool can_wait_for(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

inline bool is_limit(clockid_t clock, const timespec& time) {
  return can_wait_for(clock) && is_time(time);
}

}  // namespace heddle::runtime
