// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/signal_timer.h"

#include <unistd.h>

#include <cerrno>

#include "runtime/base/vector.h"
#include "runtime/sync/outside.h"
#include "runtime/sync/signals.h"

namespace heddle::runtime {
namespace {

struct SignalTimer {
  bool exists;
  int signal;  // 0: none is sent
  abi::ThreadIndex target;
  sigval value;
  std::int64_t next;      // 0: not set
  std::int64_t interval;  // 0: once
  long overrun;
};

constexpr long kIntervalTimers = 3;
constexpr int kIntervalSignals[kIntervalTimers] = {SIGALRM, SIGVTALRM, SIGPROF};
/// As often may handlers run, nobody being able to go on, before they count as no help.
constexpr int kMostJumps = 100;

constinit Vector<SignalTimer> timers;  // those of setitimer first
constinit std::uint64_t last_jump = 0;
constinit int jumps = 0;

SignalTimer* find(long number) {
  const auto index = static_cast<std::size_t>(number - 1);
  return index < timers.size() && timers[index].exists ? &timers[index] : nullptr;
}

void add_interval_timers() {
  if (!timers.empty()) return;
  for (const int signal : kIntervalSignals) {
    timers.push_back({true, signal, abi::kNoThread, {}, 0, 0, 0});
  }
}

timespec time_of(std::int64_t nanoseconds) {
  return {nanoseconds / VirtualClock::kSecond, nanoseconds % VirtualClock::kSecond};
}

bool is_time(const timespec& time) {
  return time.tv_sec >= 0 && time.tv_nsec >= 0 && time.tv_nsec < VirtualClock::kSecond;
}

void fire(Session& session, SignalTimer& timer) {
  const std::int64_t late = session.clock().now() - timer.next;
  const std::int64_t missed = timer.interval > 0 ? late / timer.interval : 0;
  timer.next = timer.interval > 0 ? timer.next + (missed + 1) * timer.interval : 0;
  timer.overrun = static_cast<long>(missed);
  if (timer.signal == 0) return;
  siginfo_t info{};
  info.si_signo = timer.signal;
  info.si_code = &timer < timers.begin() + kIntervalTimers ? SI_KERNEL : SI_TIMER;
  info.si_value = timer.value;
  signal_post(session, info, timer.target);
}

/// Once an event, while a timer is set.
void pass_time(Session& session) {
  const std::int64_t next = signal_timers_next();
  if (next >= 0 && session.seems_endless()) session.clock().advance_to(next);
  signal_timers_fire(session);
}

}  // namespace

long interval_timer(int which) {
  add_interval_timers();
  return which >= 0 && which < kIntervalTimers ? which + 1 : -EINVAL;
}

long signal_timer_create(Session& session, clockid_t clock, const sigevent* event) {
  if (raw_syscall(SYS_clock_getres, clock, 0) < 0) return -EINVAL;
  add_interval_timers();
  const auto number = static_cast<long>(timers.size() + 1);
  SignalTimer timer{true, SIGALRM, abi::kNoThread, {}, 0, 0, 0};
  timer.value.sival_int = static_cast<int>(number);
  if (event != nullptr) {
    timer.value = event->sigev_value;
    timer.signal = event->sigev_signo;
    switch (event->sigev_notify) {
      case SIGEV_NONE: timer.signal = 0; break;
      case SIGEV_SIGNAL: break;
      case SIGEV_THREAD_ID: {
        // Thread ids are those gettid() gives.
        const long index = event->_sigev_un._tid - getpid();
        if (index < 0 || index >= static_cast<long>(session.thread_count())) return -EINVAL;
        timer.target = static_cast<abi::ThreadIndex>(index);
        break;
      }
      case SIGEV_THREAD: session.unsupported("a timer that starts threads (SIGEV_THREAD)");
      default: return -EINVAL;
    }
    if (timer.signal < 0 || timer.signal > 64) return -EINVAL;
  }
  timers.push_back(timer);
  return number;
}

long signal_timer_set(Session& session, long number, bool absolute, const itimerspec& change,
                      itimerspec* before) {
  SignalTimer* const timer = find(number);
  if (timer == nullptr || !is_time(change.it_value) || !is_time(change.it_interval)) return -EINVAL;
  if (before != nullptr) signal_timer_get(session, number, *before);
  const std::int64_t given = VirtualClock::nanoseconds(change.it_value);
  timer->next = given == 0 ? 0 : (absolute ? given : session.clock().now() + given);
  timer->interval = VirtualClock::nanoseconds(change.it_interval);
  timer->overrun = 0;
  session.set_tick(&pass_time);
  outside_watch(session);
  return 0;
}

long signal_timer_get(Session& session, long number, itimerspec& out) {
  const SignalTimer* const timer = find(number);
  if (timer == nullptr) return -EINVAL;
  const std::int64_t left = timer->next - session.clock().now();
  out.it_interval = time_of(timer->interval);
  out.it_value = time_of(timer->next == 0 ? 0 : (left > 0 ? left : 1));
  return 0;
}

long signal_timer_delete(long number) {
  SignalTimer* const timer = number > kIntervalTimers ? find(number) : nullptr;
  if (timer == nullptr) return -EINVAL;
  timer->exists = false;
  timer->next = 0;
  return 0;
}

long signal_timer_overrun(long number) {
  const SignalTimer* const timer = find(number);
  return timer == nullptr ? -EINVAL : timer->overrun;
}

void signal_timers_fire(Session& session) {
  for (SignalTimer& timer : timers) {
    if (timer.next != 0 && timer.next <= session.clock().now()) fire(session, timer);
  }
}

std::int64_t signal_timers_next() {
  std::int64_t next = -1;
  for (const SignalTimer& timer : timers) {
    const bool helps = timer.next != 0 && timer.signal != 0 && signal_helps(timer.signal);
    if (helps && (next < 0 || timer.next < next)) next = timer.next;
  }
  return next;
}

bool signal_timers_jump(Session& session) {
  const std::uint64_t events = session.recorder().event_count();
  jumps = events == last_jump ? jumps + 1 : 0;
  last_jump = events;
  const std::int64_t next = signal_timers_next();
  if (next < 0 || jumps > kMostJumps) return false;
  session.clock().advance_to(next);
  signal_timers_fire(session);
  return true;
}

}  // namespace heddle::runtime
