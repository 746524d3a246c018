// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/spinlock.h"

#include "runtime/entry/entry.h"

using namespace heddle::runtime;

HEDDLE_ENTRY int pthread_spin_lock(pthread_spinlock_t* lock) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_spin_lock(lock);
  return spinlock_lock(session(), lock, call_site());
}

HEDDLE_ENTRY int pthread_spin_trylock(pthread_spinlock_t* lock) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_spin_trylock(lock);
  return spinlock_trylock(session(), lock, call_site());
}

HEDDLE_ENTRY int pthread_spin_unlock(pthread_spinlock_t* lock) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_spin_unlock(lock);
  return spinlock_unlock(session(), lock, call_site());
}
