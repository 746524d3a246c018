// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/timer.h"

#include <cerrno>

#include "runtime/entry/entry.h"
#include "runtime/entry/kernel_result.h"

using namespace heddle::runtime;

HEDDLE_ENTRY int timerfd_create(clockid_t clock, int flags) noexcept {
  const Gate gate;
  if (!gate) return real().timerfd_create(clock, flags);
  return int_result_of(timer_create(flags));
}

HEDDLE_ENTRY int timerfd_settime(int descriptor, int flags, const itimerspec* change,
                                 itimerspec* before) noexcept {
  const Gate gate;
  if (!gate) return real().timerfd_settime(descriptor, flags, change, before);
  return int_result_of(timer_set(session(), descriptor, flags, *change, before));
}

HEDDLE_ENTRY int timerfd_gettime(int descriptor, itimerspec* out) noexcept {
  const Gate gate;
  if (!gate) return real().timerfd_gettime(descriptor, out);
  return int_result_of(timer_get(session(), descriptor, *out));
}
