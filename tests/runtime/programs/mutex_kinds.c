// SPDX-License-Identifier: Apache-2.0
// Every kind of mutex: recursive, error-checking, adaptive, robust; locking with a time limit.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "../check.h"

static pthread_mutex_t mutex;

static void make(int type, int robust) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, type);
  if (robust) pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

static void* other(void* expected) {
  const long error = (long)expected;
  CHECK(pthread_mutex_trylock(&mutex) == error);
  struct timespec deadline;
  clock_gettime(CLOCK_REALTIME, &deadline);
  ++deadline.tv_sec;
  if (error == EBUSY) {
    CHECK(pthread_mutex_timedlock(&mutex, &deadline) == ETIMEDOUT);
    CHECK(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &deadline) == ETIMEDOUT);
  } else {
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    CHECK(pthread_mutex_timedlock(&mutex, &deadline) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
  }
  return NULL;
}

static void* unlock_foreign(void* unused) {
  CHECK(pthread_mutex_unlock(&mutex) == EPERM);
  return unused;
}

static void* end_with_it(void* unused) {
  CHECK(pthread_mutex_lock(&mutex) == 0);
  sched_yield();
  return unused;
}

static void* wait_for_it(void* recovers) {
  const int result = pthread_mutex_lock(&mutex);
  CHECK(result == EOWNERDEAD || result == 0);
  if (result == EOWNERDEAD && recovers) CHECK(pthread_mutex_consistent(&mutex) == 0);
  CHECK(pthread_mutex_unlock(&mutex) == 0);
  return (void*)(long)result;
}

static void in_thread(void* (*routine)(void*), long argument) {
  pthread_t thread;
  pthread_create(&thread, NULL, routine, (void*)argument);
  pthread_join(thread, NULL);
}

int main(void) {
  make(PTHREAD_MUTEX_RECURSIVE, 0);
  CHECK(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_lock(&mutex) == 0);
  CHECK(pthread_mutex_trylock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0);
  CHECK(pthread_mutex_unlock(&mutex) == 0);
  in_thread(other, EBUSY);
  in_thread(unlock_foreign, 0);
  CHECK(pthread_mutex_unlock(&mutex) == 0);
  in_thread(other, 0);
  CHECK(pthread_mutex_unlock(&mutex) == EPERM && pthread_mutex_destroy(&mutex) == 0);

  make(PTHREAD_MUTEX_ERRORCHECK, 0);
  CHECK(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_lock(&mutex) == EDEADLK);
  struct timespec deadline = {2000000000, 0};
  CHECK(pthread_mutex_timedlock(&mutex, &deadline) == EDEADLK);
  in_thread(unlock_foreign, 0);
  CHECK(pthread_mutex_unlock(&mutex) == 0 && pthread_mutex_destroy(&mutex) == 0);

  make(PTHREAD_MUTEX_ADAPTIVE_NP, 0);
  CHECK(pthread_mutex_lock(&mutex) == 0);
  in_thread(other, EBUSY);
  CHECK(pthread_mutex_unlock(&mutex) == 0 && pthread_mutex_destroy(&mutex) == 0);

  make(PTHREAD_MUTEX_NORMAL, 1);
  in_thread(end_with_it, 0);
  CHECK(pthread_mutex_lock(&mutex) == EOWNERDEAD);
  CHECK(pthread_mutex_consistent(&mutex) == 0 && pthread_mutex_consistent(&mutex) == EINVAL);
  CHECK(pthread_mutex_unlock(&mutex) == 0 && pthread_mutex_lock(&mutex) == 0);
  CHECK(pthread_mutex_unlock(&mutex) == 0);
  in_thread(end_with_it, 0);
  CHECK(pthread_mutex_trylock(&mutex) == EOWNERDEAD && pthread_mutex_unlock(&mutex) == 0);
  CHECK(pthread_mutex_lock(&mutex) == ENOTRECOVERABLE);
  CHECK(pthread_mutex_trylock(&mutex) == ENOTRECOVERABLE && pthread_mutex_destroy(&mutex) == 0);

  make(PTHREAD_MUTEX_NORMAL, 1);
  pthread_t dying, waiting;
  void* result;
  pthread_create(&dying, NULL, end_with_it, NULL);
  pthread_create(&waiting, NULL, wait_for_it, &mutex);
  pthread_join(dying, NULL);
  pthread_join(waiting, &result);
  const int last = pthread_mutex_lock(&mutex);
  CHECK(last == (result == NULL ? EOWNERDEAD : 0));
  puts("done");
  return 0;
}
