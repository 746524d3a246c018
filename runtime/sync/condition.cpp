// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/condition.h"

#include <cerrno>

#include "runtime/sync/cancellation.h"
#include "runtime/sync/mutex.h"
#include "runtime/sync/outside.h"
#include "runtime/sync/thread.h"
#include "runtime/sync/wait_list.h"

namespace heddle::runtime {
namespace {

constinit WaitList waiters;

constinit std::uint64_t spurious_count = 0;

bool waits(abi::ThreadIndex thread) {
  return waiters.contains(thread);
}

bool may_wake_spuriously() {
  return spurious_count < session().recorder().channel().options.spurious_wakeups;
}

pthread_mutex_t* mutex_of(const Operation& operation) {
  return reinterpret_cast<pthread_mutex_t*>(operation.address);
}

bool reacquire_ready(const Operation& operation) {
  return (!waits(operation.thread) || cancellation_due(operation.thread)) &&
         mutex_is_free(mutex_of(operation));
}

abi::ThreadIndex reacquire_holder(const Operation& operation, abi::SiteId& taken_at) {
  if (waits(operation.thread)) return abi::kNoThread;  // anybody might signal
  return mutex_holder(mutex_of(operation), taken_at);
}

bool wake_ready(const Operation& operation) {
  return !waits(operation.thread) || may_wake_spuriously() || cancellation_due(operation.thread);
}

abi::ThreadIndex nobody(const Operation&, abi::SiteId&) {
  return abi::kNoThread;
}

/// As libc lays it out.
bool is_shared(const pthread_cond_t* condition) {
  return (condition->__data.__wrefs & 1) != 0;
}

Reach reach(const Operation& operation) {
  return operation.detail != 0 && waits(operation.thread) ? Reach::Unseen : Reach::Process;
}

constexpr Blocking kReacquiring{&reacquire_ready, &reacquire_holder, &reach};
constexpr Blocking kWaking{&wake_ready, &nobody};

unsigned begin_wait(Session& session, pthread_cond_t* condition, pthread_mutex_t* mutex,
                    abi::SiteId site) {
  const Operation operation = operation_on(condition, abi::EventKind::CondWait, site);
  session.arrive(operation);
  cancellation_act(session, site);
  waiters.add(operation.address, session.current_index());
  const unsigned depth = release_for_wait(session, mutex);
  session.record(operation);
  return depth;
}

/// Takes the mutex again. If the thread is to be cancelled, it ends with the mutex held, as POSIX
/// has it; a signal that had already been given to it is not lost: it then returns first.
int end_wait(Session& session, pthread_mutex_t* mutex, bool shared, unsigned depth, bool cancelled,
             abi::SiteId site) {
  Operation operation = operation_on(mutex, abi::EventKind::MutexLock, site, &kReacquiring);
  operation.detail = shared;
  session.arrive(operation);
  const abi::ThreadIndex thread = session.current_index();
  const int result = acquire_after_wait(session, mutex, depth, site);
  session.record(operation, 0, 0, static_cast<std::uint64_t>(result));
  if (waits(thread)) {
    waiters.remove(thread);
    cancelled = true;
  }
  if (cancelled) thread_exit(session, PTHREAD_CANCELED);
  return result;
}

/// The budget of spurious wake-ups is used up: nobody else has one.
void close_spurious(Session& session) {
  for (std::uint32_t i = 0; i < session.thread_count(); ++i) {
    const Thread& thread = session.thread(static_cast<abi::ThreadIndex>(i));
    if (thread.finished || thread.index == session.current_index()) continue;
    if (thread.pending.blocking == &kWaking) session.refresh_thread(thread.index);
  }
}

/// Between begin and end: why the wait is over, 0 (signalled), ETIMEDOUT, EINTR (for no reason) or
/// ECANCELED.
int wake(Session& session, pthread_cond_t* condition, const timespec* deadline, abi::SiteId site) {
  Operation operation = operation_on(condition, abi::EventKind::CondWake, site,
                                     deadline != nullptr ? nullptr : &kWaking);
  if (deadline != nullptr) limit(operation, kWaking, VirtualClock::nanoseconds(*deadline));
  session.arrive(operation);
  const abi::ThreadIndex thread = session.current_index();
  int result = 0;
  if (waits(thread)) {
    waiters.remove(thread);
    if (cancellation_due(thread)) {
      result = ECANCELED;
    } else if (deadline != nullptr) {
      result = ETIMEDOUT;
      session.clock().advance_to(VirtualClock::nanoseconds(*deadline));
    } else {
      result = EINTR;
      ++spurious_count;
      if (!may_wake_spuriously()) close_spurious(session);
    }
  }
  session.record(operation, 0, static_cast<std::uint64_t>(result));
  return result;
}

}  // namespace

int condition_wait(Session& session, pthread_cond_t* condition, pthread_mutex_t* mutex,
                   const timespec* deadline, abi::SiteId site) {
  if (!mutex_can_wait(mutex, session.current_index())) return EPERM;
  const unsigned depth = begin_wait(session, condition, mutex, site);
  int why = 0;
  if (deadline != nullptr || may_wake_spuriously()) {
    why = wake(session, condition, deadline, site);
  }
  const int result = end_wait(session, mutex, is_shared(condition), depth, why == ECANCELED, site);
  return result != 0 ? result : (why == ETIMEDOUT ? ETIMEDOUT : 0);
}

int condition_signal(Session& session, pthread_cond_t* condition, abi::SiteId site) {
  const Operation operation = operation_on(condition, abi::EventKind::CondSignal, site);
  session.arrive(operation);
  outside_note_use(is_shared(condition));
  const abi::ThreadIndex woken = waiters.wake_one(session, operation.address);
  session.record(operation, 0, woken != abi::kNoThread, woken == abi::kNoThread ? 0 : woken + 1u);
  return 0;
}

int condition_broadcast(Session& session, pthread_cond_t* condition, abi::SiteId site) {
  const Operation operation = operation_on(condition, abi::EventKind::CondBroadcast, site);
  session.arrive(operation);
  outside_note_use(is_shared(condition));
  session.record(operation, 0, waiters.wake(session, operation.address, abi::kMaxThreads));
  return 0;
}

int condition_destroy(Session& session, pthread_cond_t* condition, abi::SiteId site) {
  const Operation operation = operation_on(condition, abi::EventKind::CondDestroy, site);
  session.arrive(operation);
  session.record(operation);
  return 0;
}

}  // namespace heddle::runtime
