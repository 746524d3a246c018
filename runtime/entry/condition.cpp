// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include "runtime/sync/condition.h"

#include "runtime/entry/deadline.h"
#include "runtime/entry/entry.h"

using namespace heddle::runtime;

HEDDLE_ENTRY int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  const Gate gate;
  if (!gate) return real().pthread_cond_wait(condition, mutex);
  return condition_wait(session(), condition, mutex, nullptr, call_site());
}

HEDDLE_ENTRY int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                        const timespec* deadline) {
  const Gate gate;
  if (!gate) return real().pthread_cond_timedwait(condition, mutex, deadline);
  if (!is_time(*deadline)) return EINVAL;
  return condition_wait(session(), condition, mutex, deadline, call_site());
}

HEDDLE_ENTRY int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                        clockid_t clock, const timespec* deadline) {
  const Gate gate;
  if (!gate) return real().pthread_cond_clockwait(condition, mutex, clock, deadline);
  if (!is_limit(clock, *deadline)) return EINVAL;
  return condition_wait(session(), condition, mutex, deadline, call_site());
}

HEDDLE_ENTRY int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_cond_signal(condition);
  return condition_signal(session(), condition, call_site());
}

HEDDLE_ENTRY int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_cond_broadcast(condition);
  return condition_broadcast(session(), condition, call_site());
}

HEDDLE_ENTRY int pthread_cond_destroy(pthread_cond_t* condition) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_cond_destroy(condition);
  return condition_destroy(session(), condition, call_site());
}
