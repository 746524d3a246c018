// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/semaphore.h"

#include <cerrno>

#include "runtime/entry/deadline.h"
#include "runtime/entry/entry.h"

using namespace heddle::runtime;

namespace {

int result_of(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

}  // namespace

HEDDLE_ENTRY int sem_wait(sem_t* semaphore) {
  const Gate gate;
  if (!gate) return real().sem_wait(semaphore);
  return result_of(semaphore_wait(session(), semaphore, nullptr, call_site()));
}

HEDDLE_ENTRY int sem_timedwait(sem_t* semaphore, const timespec* deadline) {
  const Gate gate;
  if (!gate) return real().sem_timedwait(semaphore, deadline);
  if (!is_time(*deadline)) return result_of(EINVAL);
  return result_of(semaphore_wait(session(), semaphore, deadline, call_site()));
}

HEDDLE_ENTRY int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* deadline) {
  const Gate gate;
  if (!gate) return real().sem_clockwait(semaphore, clock, deadline);
  if (!is_limit(clock, *deadline)) return result_of(EINVAL);
  return result_of(semaphore_wait(session(), semaphore, deadline, call_site()));
}

HEDDLE_ENTRY int sem_trywait(sem_t* semaphore) noexcept {
  const Gate gate;
  if (!gate) return real().sem_trywait(semaphore);
  return result_of(semaphore_trywait(session(), semaphore, call_site()));
}

HEDDLE_ENTRY int sem_post(sem_t* semaphore) noexcept {
  const Gate gate;
  if (!gate) return real().sem_post(semaphore);
  return result_of(semaphore_post(session(), semaphore, call_site()));
}

HEDDLE_ENTRY int sem_destroy(sem_t* semaphore) noexcept {
  const Gate gate;
  if (!gate) return real().sem_destroy(semaphore);
  return result_of(semaphore_destroy(session(), semaphore, call_site()));
}

HEDDLE_ENTRY int sem_getvalue(sem_t* semaphore, int* value) noexcept {
  *value = semaphore_value(semaphore);
  return 0;
}
