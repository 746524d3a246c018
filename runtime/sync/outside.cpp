// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/outside.h"

#include <cerrno>

#include "runtime/sync/cancellation.h"
#include "runtime/sync/signals.h"
#include "runtime/sync/timer.h"

namespace heddle::runtime {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
/// How often what has no descriptor is looked for.
constexpr int kLookMilliseconds = 1;
/// How long something outside is waited for before a timer goes off.
constexpr int kTimerMilliseconds = 1;
/// Real time spent at once on behalf of a virtual duration.
constexpr std::int64_t kLongestPause = 100 * kMillisecond;

OutsideEvent& event_of(const Operation& operation) {
  return *reinterpret_cast<OutsideEvent*>(operation.detail);
}

bool outside_ready(const Operation& operation) {
  const OutsideEvent& event = event_of(operation);
  return event.happened(event) || cancellation_due(operation.thread) ||
         signal_due(operation.thread);
}

abi::ThreadIndex nobody(const Operation&, abi::SiteId&) {
  return abi::kNoThread;
}

constexpr Blocking kOutside{&outside_ready, &nobody};

bool waits_outside(const Thread& thread) {
  return !thread.finished && thread.pending.blocking == &kOutside;
}

/// All descriptors that threads wait for. False when nobody waits outside at all.
bool collect(Session& session, Vector<pollfd>& descriptors, bool& all_have_descriptors) {
  bool any = false;
  all_have_descriptors = true;
  for (std::uint32_t i = 0; i < session.thread_count(); ++i) {
    const Thread& thread = session.thread(static_cast<abi::ThreadIndex>(i));
    if (!waits_outside(thread)) continue;
    any = true;
    const OutsideEvent& event = event_of(thread.pending);
    if (event.count == 0) all_have_descriptors = false;
    for (unsigned k = 0; k < event.count; ++k) descriptors.push_back(event.descriptors[k]);
  }
  return any;
}

void poll_for(Vector<pollfd>& descriptors, int milliseconds) {
  raw_syscall(SYS_poll, reinterpret_cast<long>(descriptors.begin()),
              static_cast<long>(descriptors.size()), milliseconds);
}

constinit Vector<pollfd> collected;

bool wait_outside(Session& session) {
  collected.clear();
  bool all_have_descriptors = false;
  if (!collect(session, collected, all_have_descriptors)) return false;
  const std::int64_t timer = timers_next();
  if (timer < 0) {
    poll_for(collected, all_have_descriptors ? -1 : kLookMilliseconds);
    outside_refresh(session);
    return true;
  }
  // Nobody can go on before a timer goes off, unless something comes from outside: that has its
  // chance first, in real time, and then virtual time jumps.
  poll_for(collected, kTimerMilliseconds);
  outside_refresh(session);
  if (session.any_can_go_on()) return true;
  session.clock().advance_to(timer);
  timers_fire(session);
  outside_refresh(session);
  return true;
}

}  // namespace

bool outside_arrive(Session& session, Operation operation, OutsideEvent& event) {
  session.set_outside_wait(&wait_outside);
  operation.blocking = &kOutside;
  operation.detail = reinterpret_cast<std::uint64_t>(&event);
  session.arrive(operation);
  cancellation_act(session, operation.site);
  return event.happened(event) || !signal_due(session.current_index());
}

void outside_refresh(Session& session) {
  for (std::uint32_t i = 0; i < session.thread_count(); ++i) {
    const Thread& thread = session.thread(static_cast<abi::ThreadIndex>(i));
    if (waits_outside(thread)) session.refresh_thread(thread.index);
  }
}

void outside_pause(Session& session, std::int64_t nanoseconds) {
  if (!session.alone()) return;
  collected.clear();
  bool all_have_descriptors = false;
  if (!collect(session, collected, all_have_descriptors)) return;
  const std::int64_t real = nanoseconds < kLongestPause ? nanoseconds : kLongestPause;
  poll_for(collected, static_cast<int>((real + kMillisecond - 1) / kMillisecond));
  outside_refresh(session);
}

void outside_poll(pollfd* descriptors, unsigned count, std::int64_t nanoseconds) {
  const std::int64_t real = nanoseconds < kLongestPause ? nanoseconds : kLongestPause;
  raw_syscall(SYS_poll, reinterpret_cast<long>(descriptors), count,
              (real + kMillisecond - 1) / kMillisecond);
}

}  // namespace heddle::runtime
