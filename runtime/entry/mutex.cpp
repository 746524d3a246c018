// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/mutex.h"

#include "runtime/entry/entry.h"

using namespace heddle::runtime;

HEDDLE_ENTRY int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_mutex_lock(mutex);
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
  return mutex_timedlock(session(), mutex, *deadline, call_site());
}

HEDDLE_ENTRY int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_mutex_trylock(mutex);
  return mutex_trylock(session(), mutex, call_site());
}

HEDDLE_ENTRY int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_mutex_unlock(mutex);
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
