// SPDX-License-Identifier: Apache-2.0
//
// Stands in front of libc's clocks and sleeps.
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "runtime/entry/entry.h"

using namespace heddle::runtime;

namespace {

void sleep_for(std::int64_t duration) {
  const Operation operation = operation_on(nullptr, heddle::abi::EventKind::Sleep, call_site());
  session().arrive(operation);
  session().clock().advance_by(duration);
  session().record(operation, 0, static_cast<std::uint64_t>(duration));
}

}  // namespace

HEDDLE_ENTRY int nanosleep(const timespec* duration, timespec* rest) {
  const Gate gate;
  if (!gate) return real().nanosleep(duration, rest);
  sleep_for(VirtualClock::nanoseconds(*duration));
  return 0;
}

HEDDLE_ENTRY int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* rest) {
  const Gate gate;
  if (!gate) return real().clock_nanosleep(clock, flags, time, rest);
  const std::int64_t given = VirtualClock::nanoseconds(*time);
  sleep_for((flags & TIMER_ABSTIME) != 0 ? given - session().clock().now() : given);
  return 0;
}

HEDDLE_ENTRY int usleep(useconds_t microseconds) {
  const timespec duration{microseconds / 1000000, microseconds % 1000000 * 1000};
  return nanosleep(&duration, nullptr);
}

HEDDLE_ENTRY unsigned sleep(unsigned seconds) {
  const timespec duration{seconds, 0};
  nanosleep(&duration, nullptr);
  return 0;
}

HEDDLE_ENTRY int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const Gate gate;
  if (!gate) return real().clock_gettime(clock, time);
  const std::int64_t now = session().clock().look();
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
