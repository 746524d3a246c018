// SPDX-License-Identifier: Apache-2.0
//
// Stands in front of libc's clocks and sleeps.
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/entry/entry.h"
#include "runtime/sync/cancellation.h"
#include "runtime/sync/outside.h"
#include "runtime/sync/signal_timer.h"
#include "runtime/sync/signals.h"
#include "runtime/sync/timer.h"

using namespace heddle::runtime;

namespace {

/// Returns 0, or EINTR: a signal came for this thread meanwhile.
int sleep_until(std::int64_t end, heddle::abi::SiteId site) {
  const std::int64_t duration = end - session().clock().now();
  Operation operation = operation_on(nullptr, heddle::abi::EventKind::Sleep, site);
  operation.deadline = end;
  Session& run = session();
  run.arrive(operation);
  cancellation_act(run, operation.site);
  // Whatever goes off meanwhile may interrupt it.
  const std::int64_t wakes = run.clock().now() + (duration > 0 ? duration : 0);
  for (std::int64_t next = signal_timers_next(); next >= 0 && next < wakes;
       next = signal_timers_next()) {
    run.clock().advance_to(next);
    signal_timers_fire(run);
    if (signal_due(run.current_index())) break;
  }
  if (!signal_due(run.current_index())) {
    outside_pause(run, duration);
    run.clock().advance_to(wakes);
  }
  timers_fire(run);
  run.record(operation, 0, static_cast<std::uint64_t>(duration));
  outside_refresh(run);
  return signal_due(run.current_index()) ? EINTR : 0;
}

bool is_duration(const timespec& time) {
  return time.tv_sec >= 0 && time.tv_nsec >= 0 && time.tv_nsec < VirtualClock::kSecond;
}

}  // namespace

HEDDLE_ENTRY int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* rest) {
  const Gate gate;
  if (!gate) return real().clock_nanosleep(clock, flags, time, rest);
  if (!is_duration(*time)) return EINVAL;
  const bool absolute = (flags & TIMER_ABSTIME) != 0;
  const std::int64_t given = VirtualClock::nanoseconds(*time);
  const std::int64_t end = absolute ? given : session().clock().now() + given;
  const int result = sleep_until(end, call_site());
  if (result != 0 && !absolute && rest != nullptr) {
    const std::int64_t left = end - session().clock().now();
    *rest = left > 0 ? timespec{left / VirtualClock::kSecond, left % VirtualClock::kSecond}
                     : timespec{0, 1};  // it had slept nearly all of it
  }
  return result;
}

HEDDLE_ENTRY int nanosleep(const timespec* duration, timespec* rest) {
  const int error = clock_nanosleep(CLOCK_REALTIME, 0, duration, rest);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

HEDDLE_ENTRY int usleep(useconds_t microseconds) {
  const timespec duration{microseconds / 1000000, microseconds % 1000000 * 1000};
  return nanosleep(&duration, nullptr);
}

HEDDLE_ENTRY unsigned sleep(unsigned seconds) {
  const timespec duration{seconds, 0};
  timespec rest{};
  if (nanosleep(&duration, &rest) == 0) return 0;
  return static_cast<unsigned>(rest.tv_sec + (rest.tv_nsec > 0 ? 1 : 0));
}

HEDDLE_ENTRY int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const Gate gate;
  if (!gate) return real().clock_gettime(clock, time);
  const std::int64_t now = session().look_at_clock();
  *time = {now / VirtualClock::kSecond, now % VirtualClock::kSecond};
  return 0;
}

HEDDLE_ENTRY int gettimeofday(timeval* time, void*) noexcept {
  timespec precise{};
  const int result = clock_gettime(CLOCK_REALTIME, &precise);
  *time = {precise.tv_sec, precise.tv_nsec / 1000};
  return result;
}

HEDDLE_ENTRY time_t time(time_t* out) noexcept {
  timespec precise{};
  clock_gettime(CLOCK_REALTIME, &precise);
  if (out != nullptr) *out = precise.tv_sec;
  return precise.tv_sec;
}

HEDDLE_ENTRY int timespec_get(timespec* time, int base) noexcept {
  if (base != TIME_UTC) return 0;
  clock_gettime(CLOCK_REALTIME, time);
  return base;
}

// Processor time is time like any other: it passes with the program's own steps.
HEDDLE_ENTRY clock_t clock() noexcept {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return used.tv_sec * CLOCKS_PER_SEC + used.tv_nsec / (VirtualClock::kSecond / CLOCKS_PER_SEC);
}

HEDDLE_ENTRY clock_t times(tms* used) noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const clock_t ticks = now.tv_sec * 100 + now.tv_nsec / (VirtualClock::kSecond / 100);
  if (used != nullptr) *used = {ticks, 0, 0, 0};
  return ticks;
}

HEDDLE_ENTRY int getrusage(__rusage_who_t who, rusage* usage) noexcept {
  const int result = real().getrusage(who, usage);
  const Gate gate;
  if (!gate || result != 0) return result;
  *usage = {};  // faults and switches are the machine's, not the program's
  const std::int64_t now = session().clock().now();
  usage->ru_utime = {now / VirtualClock::kSecond, now % VirtualClock::kSecond / 1000};
  return result;
}
