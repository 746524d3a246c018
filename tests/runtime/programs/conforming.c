// SPDX-License-Identifier: Apache-2.0
//
// What glibc's own tests expect and Heddle once did not do: limits that are no times and clocks
// that cannot be waited for are refused, a thread begins with the signal mask of its attributes,
// changing the identity works with threads about, and the main thread can be joined when it has
// left.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "../check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t taken = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_t main_thread;

static void refused_limits(void) {
  const struct timespec bad = {0, 1000000000}, negative = {0, -1}, past = {1, 0};
  sem_t semaphore;
  CHECK(sem_init(&semaphore, 0, 0) == 0);
  CHECK(pthread_mutex_lock(&mutex) == 0);
  CHECK(pthread_cond_timedwait(&condition, &mutex, &bad) == EINVAL);
  CHECK(pthread_cond_timedwait(&condition, &mutex, &negative) == EINVAL);
  CHECK(pthread_cond_clockwait(&condition, &mutex, CLOCK_PROCESS_CPUTIME_ID, &past) == EINVAL);
  CHECK(pthread_mutex_unlock(&mutex) == 0);
  // Only whoever must wait looks at the limit, but everybody at the clock.
  CHECK(pthread_mutex_timedlock(&mutex, &bad) == 0);
  CHECK(pthread_mutex_timedlock(&mutex, &bad) == EINVAL);
  CHECK(pthread_mutex_timedlock(&mutex, &past) == ETIMEDOUT);
  CHECK(pthread_mutex_clocklock(&taken, CLOCK_PROCESS_CPUTIME_ID, &past) == EINVAL);
  CHECK(pthread_mutex_unlock(&mutex) == 0);
  CHECK(pthread_rwlock_timedrdlock(&lock, &bad) == EINVAL);
  CHECK(pthread_rwlock_clockwrlock(&lock, CLOCK_PROCESS_CPUTIME_ID, &past) == EINVAL);
  CHECK(sem_clockwait(&semaphore, CLOCK_PROCESS_CPUTIME_ID, &past) == -1 && errno == EINVAL);
}

static void* has_mask(void* expected) {
  sigset_t mask;
  CHECK(pthread_sigmask(SIG_SETMASK, NULL, &mask) == 0);
  CHECK(sigismember(&mask, SIGUSR2) == (expected != NULL));
  return NULL;
}

static void begins_with_mask(void) {
  sigset_t mask, before, after;
  pthread_attr_t attributes;
  pthread_t thread;
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR2);
  CHECK(pthread_attr_init(&attributes) == 0);
  CHECK(pthread_attr_setsigmask_np(&attributes, &mask) == 0);
  CHECK(pthread_create(&thread, &attributes, has_mask, &mask) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(pthread_create(&thread, NULL, has_mask, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(pthread_sigmask(SIG_SETMASK, NULL, &before) == 0);
  CHECK(sigprocmask(SIG_SETMASK, NULL, &after) == 0);
  CHECK(!sigismember(&before, SIGUSR2) && !sigismember(&after, SIGUSR2));
}

static void* joins_main(void* unused) {
  void* result;
  CHECK(setuid(getuid()) == 0 && setgid(getgid()) == 0 && seteuid(geteuid()) == 0);
  CHECK(pthread_join(main_thread, &result) == 0);
  CHECK(result == &main_thread);
  exit(0);
  return unused;
}

int main(void) {
  pthread_t thread;
  refused_limits();
  begins_with_mask();
  main_thread = pthread_self();
  CHECK(pthread_create(&thread, NULL, joins_main, NULL) == 0);
  pthread_exit(&main_thread);
}
