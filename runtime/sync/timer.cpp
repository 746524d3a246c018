// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/timer.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <cerrno>

#include "runtime/base/vector.h"
#include "runtime/sync/outside.h"
#include "runtime/sync/signal_timer.h"

namespace heddle::runtime {
namespace {

struct Timer {
  int descriptor;
  std::int64_t next;      // 0: not set
  std::int64_t interval;  // 0: once
};

constinit Vector<Timer> timers;

Timer* find(int descriptor) {
  for (Timer& timer : timers) {
    if (timer.descriptor == descriptor) return &timer;
  }
  return nullptr;
}

timespec time_of(std::int64_t nanoseconds) {
  return {nanoseconds / VirtualClock::kSecond, nanoseconds % VirtualClock::kSecond};
}

bool is_time(const timespec& time) {
  return time.tv_sec >= 0 && time.tv_nsec >= 0 && time.tv_nsec < VirtualClock::kSecond;
}

/// Forgets expirations nobody has read, as setting a timer does.
void drain(int descriptor) {
  pollfd polled{descriptor, POLLIN, 0};
  std::uint64_t count = 0;
  if (raw_syscall(SYS_poll, reinterpret_cast<long>(&polled), 1, 0) == 1) {
    raw_syscall(SYS_read, descriptor, reinterpret_cast<long>(&count), sizeof count);
  }
}

}  // namespace

long timer_create(int flags) {
  static_assert(int{TFD_NONBLOCK} == int{EFD_NONBLOCK} && int{TFD_CLOEXEC} == int{EFD_CLOEXEC});
  const long descriptor = raw_syscall(SYS_eventfd2, 0, flags);
  if (descriptor < 0) return descriptor;
  timers.push_back({static_cast<int>(descriptor), 0, 0});
  outside_mark_internal(static_cast<int>(descriptor), true);
  return descriptor;
}

long timer_set(Session& session, int descriptor, int flags, const itimerspec& change,
               itimerspec* before) {
  Timer* const timer = find(descriptor);
  if (timer == nullptr || !is_time(change.it_value) || !is_time(change.it_interval)) return -EINVAL;
  if (before != nullptr) timer_get(session, descriptor, *before);
  drain(descriptor);
  const std::int64_t given = VirtualClock::nanoseconds(change.it_value);
  const bool absolute = (flags & TFD_TIMER_ABSTIME) != 0;
  timer->next = given == 0 ? 0 : (absolute ? given : session.clock().now() + given);
  timer->interval = VirtualClock::nanoseconds(change.it_interval);
  return 0;
}

long timer_get(Session& session, int descriptor, itimerspec& out) {
  const Timer* const timer = find(descriptor);
  if (timer == nullptr) return -EINVAL;
  const std::int64_t left = timer->next - session.clock().now();
  out.it_interval = time_of(timer->interval);
  out.it_value = time_of(timer->next == 0 ? 0 : (left > 0 ? left : 1));
  return 0;
}

void timer_forget(int descriptor) {
  for (std::size_t i = 0; i < timers.size(); ++i) {
    if (timers[i].descriptor == descriptor) return timers.erase(i);
  }
}

void timers_fire(Session& session) {
  signal_timers_fire(session);
  const std::int64_t now = session.clock().now();
  for (Timer& timer : timers) {
    if (timer.next == 0 || timer.next > now) continue;
    std::uint64_t times = 1;
    if (timer.interval > 0)
      times += static_cast<std::uint64_t>((now - timer.next) / timer.interval);
    timer.next =
        timer.interval > 0 ? timer.next + static_cast<std::int64_t>(times) * timer.interval : 0;
    raw_syscall(SYS_write, timer.descriptor, reinterpret_cast<long>(&times), sizeof times);
  }
}

std::int64_t timers_next() {
  std::int64_t next = signal_timers_next();
  for (const Timer& timer : timers) {
    if (timer.next != 0 && (next < 0 || timer.next < next)) next = timer.next;
  }
  return next;
}

}  // namespace heddle::runtime
