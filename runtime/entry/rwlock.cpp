// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include "runtime/sync/rwlock.h"

#include "runtime/entry/deadline.h"
#include "runtime/entry/entry.h"

using namespace heddle::runtime;

HEDDLE_ENTRY int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_rwlock_rdlock(lock);
  return rwlock_lock(session(), lock, RwlockMode::Read, nullptr, call_site());
}

HEDDLE_ENTRY int pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_rwlock_tryrdlock(lock);
  return rwlock_trylock(session(), lock, RwlockMode::Read, call_site());
}

HEDDLE_ENTRY int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock,
                                            const timespec* deadline) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_rwlock_timedrdlock(lock, deadline);
  if (!is_time(*deadline)) return EINVAL;
  return rwlock_lock(session(), lock, RwlockMode::Read, deadline, call_site());
}

HEDDLE_ENTRY int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                            const timespec* deadline) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_rwlock_clockrdlock(lock, clock, deadline);
  if (!is_limit(clock, *deadline)) return EINVAL;
  return rwlock_lock(session(), lock, RwlockMode::Read, deadline, call_site());
}

HEDDLE_ENTRY int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_rwlock_wrlock(lock);
  return rwlock_lock(session(), lock, RwlockMode::Write, nullptr, call_site());
}

HEDDLE_ENTRY int pthread_rwlock_trywrlock(pthread_rwlock_t* lock) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_rwlock_trywrlock(lock);
  return rwlock_trylock(session(), lock, RwlockMode::Write, call_site());
}

HEDDLE_ENTRY int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock,
                                            const timespec* deadline) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_rwlock_timedwrlock(lock, deadline);
  if (!is_time(*deadline)) return EINVAL;
  return rwlock_lock(session(), lock, RwlockMode::Write, deadline, call_site());
}

HEDDLE_ENTRY int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                            const timespec* deadline) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_rwlock_clockwrlock(lock, clock, deadline);
  if (!is_limit(clock, *deadline)) return EINVAL;
  return rwlock_lock(session(), lock, RwlockMode::Write, deadline, call_site());
}

HEDDLE_ENTRY int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_rwlock_unlock(lock);
  return rwlock_unlock(session(), lock, call_site());
}

HEDDLE_ENTRY int pthread_rwlock_destroy(pthread_rwlock_t* lock) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_rwlock_destroy(lock);
  return rwlock_destroy(session(), lock, call_site());
}
