// SPDX-License-Identifier: Apache-2.0
//
// Stands in front of the timers that send signals. In a recorded run, where time is real, they are
// the kernel's, as those of a program that is not controlled.
#include "runtime/sync/signal_timer.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/entry/entry.h"
#include "runtime/entry/kernel_result.h"
#include "runtime/reset/changes.h"

using namespace heddle::runtime;

namespace {

template <typename Function>
Function next(Function, const char* name) {
  changes().obstacle = heddle::abi::ResetObstacle::ProcessState;
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

bool is_virtual(const Gate& gate) {
  return gate && session().one_at_a_time();
}

long number_of(timer_t timer) {
  return reinterpret_cast<long>(timer);
}

itimerspec in_nanoseconds(const itimerval& time) {
  const auto convert = [](const timeval& from) {
    return timespec{from.tv_sec,
                    from.tv_usec < 0 || from.tv_usec >= 1'000'000 ? -1 : from.tv_usec * 1000};
  };
  return {convert(time.it_interval), convert(time.it_value)};
}

itimerval in_microseconds(const itimerspec& time) {
  // A timer that is set does not show 0.
  const auto convert = [](const timespec& from) {
    return timeval{from.tv_sec, (from.tv_nsec + 999) / 1000 % 1'000'000};
  };
  return {convert(time.it_interval), convert(time.it_value)};
}

}  // namespace

#define NEXT(name) next(&::name, #name)

HEDDLE_ENTRY int timer_create(clockid_t clock, sigevent* event, timer_t* timer) noexcept {
  const Gate gate;
  if (!is_virtual(gate)) return NEXT(timer_create)(clock, event, timer);
  const long number = signal_timer_create(session(), clock, event);
  if (number > 0) *timer = reinterpret_cast<timer_t>(number);
  return int_result_of(number > 0 ? 0 : number);
}

HEDDLE_ENTRY int timer_settime(timer_t timer, int flags, const itimerspec* change,
                               itimerspec* before) noexcept {
  const Gate gate;
  if (!is_virtual(gate)) return NEXT(timer_settime)(timer, flags, change, before);
  return int_result_of(
      signal_timer_set(session(), number_of(timer), (flags & TIMER_ABSTIME) != 0, *change, before));
}

HEDDLE_ENTRY int timer_gettime(timer_t timer, itimerspec* out) noexcept {
  const Gate gate;
  if (!is_virtual(gate)) return NEXT(timer_gettime)(timer, out);
  return int_result_of(signal_timer_get(session(), number_of(timer), *out));
}

HEDDLE_ENTRY int timer_delete(timer_t timer) noexcept {
  const Gate gate;
  if (!is_virtual(gate)) return NEXT(timer_delete)(timer);
  return int_result_of(signal_timer_delete(number_of(timer)));
}

HEDDLE_ENTRY int timer_getoverrun(timer_t timer) noexcept {
  const Gate gate;
  if (!is_virtual(gate)) return NEXT(timer_getoverrun)(timer);
  return int_result_of(signal_timer_overrun(number_of(timer)));
}

HEDDLE_ENTRY int setitimer(__itimer_which_t which, const itimerval* change,
                           itimerval* before) noexcept {
  const Gate gate;
  if (!is_virtual(gate)) return NEXT(setitimer)(which, change, before);
  const long timer = interval_timer(static_cast<int>(which));
  if (timer < 0) return int_result_of(timer);
  itimerspec old{};
  const itimerspec wanted = change == nullptr ? itimerspec{} : in_nanoseconds(*change);
  const long result = signal_timer_set(session(), timer, false, wanted, &old);
  if (result == 0 && before != nullptr) *before = in_microseconds(old);
  return int_result_of(result);
}

HEDDLE_ENTRY int getitimer(__itimer_which_t which, itimerval* out) noexcept {
  const Gate gate;
  if (!is_virtual(gate)) return NEXT(getitimer)(which, out);
  const long timer = interval_timer(static_cast<int>(which));
  itimerspec left{};
  const long result = timer < 0 ? timer : signal_timer_get(session(), timer, left);
  if (result == 0) *out = in_microseconds(left);
  return int_result_of(result);
}

HEDDLE_ENTRY unsigned alarm(unsigned seconds) noexcept {
  const itimerval change{{0, 0}, {seconds, 0}};
  itimerval before{};
  if (setitimer(ITIMER_REAL, &change, &before) != 0) return 0;
  return static_cast<unsigned>(before.it_value.tv_sec + (before.it_value.tv_usec > 0 ? 1 : 0));
}

HEDDLE_ENTRY useconds_t ualarm(useconds_t first, useconds_t interval) noexcept {
  const auto time = [](useconds_t from) {
    return timeval{from / 1'000'000, static_cast<suseconds_t>(from % 1'000'000)};
  };
  const itimerval change{time(interval), time(first)};
  itimerval before{};
  if (setitimer(ITIMER_REAL, &change, &before) != 0) return static_cast<useconds_t>(-1);
  return static_cast<useconds_t>(before.it_value.tv_sec * 1'000'000 + before.it_value.tv_usec);
}
