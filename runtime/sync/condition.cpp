// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/condition.h"

#include <cerrno>

#include "runtime/sync/mutex.h"
#include "runtime/sync/wait_list.h"

namespace heddle::runtime {
namespace {

constinit WaitList waiters;

bool waits(abi::ThreadIndex thread) {
  return waiters.contains(thread);
}

pthread_mutex_t* mutex_of(const Operation& operation) {
  return reinterpret_cast<pthread_mutex_t*>(operation.address);
}

bool reacquire_ready(const Operation& operation) {
  return !waits(operation.thread) && mutex_is_free(mutex_of(operation));
}

abi::ThreadIndex reacquire_holder(const Operation& operation, abi::SiteId& taken_at) {
  if (waits(operation.thread)) return abi::kNoThread;  // anybody might signal
  return mutex_holder(mutex_of(operation), taken_at);
}

constexpr Blocking kReacquiring{&reacquire_ready, &reacquire_holder};

unsigned begin_wait(Session& session, pthread_cond_t* condition, pthread_mutex_t* mutex,
                    abi::SiteId site) {
  const Operation operation = operation_on(condition, abi::EventKind::CondWait, site);
  session.arrive(operation);
  waiters.add(operation.address, session.current_index());
  const unsigned depth = release_for_wait(session, mutex);
  session.record(operation);
  return depth;
}

void end_wait(Session& session, pthread_mutex_t* mutex, unsigned depth, abi::SiteId site) {
  const Operation operation = operation_on(mutex, abi::EventKind::MutexLock, site, &kReacquiring);
  session.arrive(operation);
  acquire_after_wait(session, mutex, depth, site);
  session.record(operation);
}

}  // namespace

int condition_wait(Session& session, pthread_cond_t* condition, pthread_mutex_t* mutex,
                   abi::SiteId site) {
  const unsigned depth = begin_wait(session, condition, mutex, site);
  end_wait(session, mutex, depth, site);
  return 0;
}

int condition_timed_wait(Session& session, pthread_cond_t* condition, pthread_mutex_t* mutex,
                         const timespec& deadline, abi::SiteId site) {
  const unsigned depth = begin_wait(session, condition, mutex, site);
  const Operation operation = operation_on(condition, abi::EventKind::CondWake, site);
  session.arrive(operation);
  const int result = waits(session.current_index()) ? ETIMEDOUT : 0;
  waiters.remove(session.current_index());
  if (result == ETIMEDOUT) session.clock().advance_to(VirtualClock::nanoseconds(deadline));
  session.record(operation, 0, static_cast<std::uint64_t>(result));
  end_wait(session, mutex, depth, site);
  return result;
}

int condition_signal(Session& session, pthread_cond_t* condition, abi::SiteId site) {
  const Operation operation = operation_on(condition, abi::EventKind::CondSignal, site);
  session.arrive(operation);
  const abi::ThreadIndex woken = waiters.wake_one(session, operation.address);
  session.record(operation, 0, woken != abi::kNoThread, woken == abi::kNoThread ? 0 : woken + 1u);
  return 0;
}

int condition_broadcast(Session& session, pthread_cond_t* condition, abi::SiteId site) {
  const Operation operation = operation_on(condition, abi::EventKind::CondBroadcast, site);
  session.arrive(operation);
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
