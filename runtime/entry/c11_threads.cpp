// SPDX-License-Identifier: Apache-2.0
//
// C11 threads. In glibc their types are those of pthreads under other names, but their functions do
// not go through pthreads' public ones.
#include <pthread.h>
#include <sched.h>
#include <threads.h>
#include <time.h>

#include <cerrno>

#include "runtime/entry/entry.h"

namespace {

int code_of(int error) {
  switch (error) {
    case 0: return thrd_success;
    case ENOMEM: return thrd_nomem;
    case ETIMEDOUT: return thrd_timedout;
    case EBUSY: return thrd_busy;
    default: return thrd_error;
  }
}

pthread_mutex_t* mutex_of(mtx_t* mutex) {
  return reinterpret_cast<pthread_mutex_t*>(mutex);
}

pthread_cond_t* condition_of(cnd_t* condition) {
  return reinterpret_cast<pthread_cond_t*>(condition);
}

}  // namespace

HEDDLE_ENTRY int thrd_create(thrd_t* thread, thrd_start_t routine, void* argument) {
  // A function that returns int can be called as one that returns a pointer: the caller of
  // thrd_join looks at the low half only.
  void* const address = reinterpret_cast<void*>(routine);
  return code_of(
      pthread_create(thread, nullptr, reinterpret_cast<void* (*)(void*)>(address), argument));
}

HEDDLE_ENTRY int thrd_join(thrd_t thread, int* result) {
  void* value = nullptr;
  const int error = pthread_join(thread, &value);
  if (result != nullptr) *result = static_cast<int>(reinterpret_cast<long>(value));
  return code_of(error);
}

HEDDLE_ENTRY int thrd_detach(thrd_t thread) {
  return code_of(pthread_detach(thread));
}

HEDDLE_ENTRY void thrd_exit(int result) {
  pthread_exit(reinterpret_cast<void*>(static_cast<long>(result)));
}

HEDDLE_ENTRY void thrd_yield() {
  sched_yield();
}

HEDDLE_ENTRY int thrd_sleep(const timespec* duration, timespec* rest) {
  const int error = clock_nanosleep(CLOCK_REALTIME, 0, duration, rest);
  return error == 0 ? 0 : (error == EINTR ? -1 : -2);
}

HEDDLE_ENTRY int mtx_lock(mtx_t* mutex) {
  return code_of(pthread_mutex_lock(mutex_of(mutex)));
}

HEDDLE_ENTRY int mtx_trylock(mtx_t* mutex) {
  return code_of(pthread_mutex_trylock(mutex_of(mutex)));
}

HEDDLE_ENTRY int mtx_timedlock(mtx_t* mutex, const timespec* deadline) {
  return code_of(pthread_mutex_timedlock(mutex_of(mutex), deadline));
}

HEDDLE_ENTRY int mtx_unlock(mtx_t* mutex) {
  return code_of(pthread_mutex_unlock(mutex_of(mutex)));
}

HEDDLE_ENTRY void mtx_destroy(mtx_t* mutex) {
  pthread_mutex_destroy(mutex_of(mutex));
}

HEDDLE_ENTRY int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  return code_of(pthread_cond_wait(condition_of(condition), mutex_of(mutex)));
}

HEDDLE_ENTRY int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* deadline) {
  return code_of(pthread_cond_timedwait(condition_of(condition), mutex_of(mutex), deadline));
}

HEDDLE_ENTRY int cnd_signal(cnd_t* condition) {
  return code_of(pthread_cond_signal(condition_of(condition)));
}

HEDDLE_ENTRY int cnd_broadcast(cnd_t* condition) {
  return code_of(pthread_cond_broadcast(condition_of(condition)));
}

HEDDLE_ENTRY void cnd_destroy(cnd_t* condition) {
  pthread_cond_destroy(condition_of(condition));
}

HEDDLE_ENTRY int tss_create(tss_t* key, tss_dtor_t destructor) {
  return code_of(pthread_key_create(key, destructor));
}

HEDDLE_ENTRY void tss_delete(tss_t key) {
  pthread_key_delete(key);
}
