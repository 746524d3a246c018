// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include "runtime/sync/mutex.h"

#include "runtime/entry/children.h"
#include "runtime/entry/deadline.h"
#include "runtime/entry/entry.h"

using namespace heddle::runtime;

namespace {

/// In the child of a fork: a mutex that its only thread has taken under control becomes one that it
/// has taken from libc.
pthread_mutex_t* adopted(pthread_mutex_t* mutex) {
  if (is_forked_child()) mutex_hand_to_libc(mutex, session().current_index());
  return mutex;
}

}  // namespace

HEDDLE_ENTRY int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_mutex_lock(adopted(mutex));
  return mutex_lock(session(), mutex, call_site());
}

HEDDLE_ENTRY int pthread_mutex_timedlock(pthread_mutex_t* mutex,
                                         const timespec* deadline) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_mutex_timedlock(mutex, deadline);
  return mutex_timedlock(session(), mutex, *deadline, call_site());
}

HEDDLE_ENTRY int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                         const timespec* deadline) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_mutex_clocklock(mutex, clock, deadline);
  if (!can_wait_for(clock)) return EINVAL;
  return mutex_timedlock(session(), mutex, *deadline, call_site());
}

HEDDLE_ENTRY int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_mutex_trylock(adopted(mutex));
  return mutex_trylock(session(), mutex, call_site());
}

HEDDLE_ENTRY int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_mutex_unlock(adopted(mutex));
  return mutex_unlock(session(), mutex, call_site());
}

HEDDLE_ENTRY int pthread_mutex_destroy(pthread_mutex_t* mutex) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_mutex_destroy(mutex);
  return mutex_destroy(session(), mutex, call_site());
}

HEDDLE_ENTRY int pthread_mutex_consistent(pthread_mutex_t* mutex) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_mutex_consistent(mutex);
  return mutex_consistent(session(), mutex, call_site());
}
