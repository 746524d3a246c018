// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/barrier.h"

#include "runtime/entry/entry.h"

using namespace heddle::runtime;

HEDDLE_ENTRY int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_barrier_wait(barrier);
  return barrier_wait(session(), barrier, call_site());
}

HEDDLE_ENTRY int pthread_barrier_destroy(pthread_barrier_t* barrier) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_barrier_destroy(barrier);
  return barrier_destroy(session(), barrier, call_site());
}
