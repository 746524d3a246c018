// SPDX-License-Identifier: Apache-2.0
// Cancellation at each kind of point, handlers of pthread_cleanup_push, states and types.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <time.h>

#include "../check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int cleaned[8], order;

static void clean(void* which) {
  cleaned[(long)which] = ++order;
}

static void unlock(void* which) {
  CHECK(pthread_mutex_unlock(which) == 0);
}

static void* in_condition(void* unused) {
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(unlock, &mutex);
  for (;;) pthread_cond_wait(&condition, &mutex);
  pthread_cleanup_pop(0);
  return unused;
}

static void* in_semaphore(void* unused) {
  pthread_cleanup_push(clean, (void*)1L);
  pthread_cleanup_push(clean, (void*)2L);
  pthread_cleanup_push(clean, (void*)3L);
  pthread_cleanup_pop(1);
  CHECK(cleaned[3] != 0);
  sem_wait(&semaphore);
  pthread_cleanup_pop(0);
  pthread_cleanup_pop(0);
  return unused;
}

static void* in_join(void* thread) {
  pthread_join(*(pthread_t*)thread, NULL);
  return NULL;
}

static void* in_sleep(void* unused) {
  for (;;) sleep(1);
  return unused;
}

static void* in_loop(void* unused) {
  for (;;) pthread_testcancel();
  return unused;
}

static void* asynchronous(void* unused) {
  int before = -1;
  CHECK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before) == 0);
  CHECK(before == PTHREAD_CANCEL_DEFERRED);
  for (;;) sched_yield();
  return unused;
}

static void* asynchronous_in_lock(void* unused) {
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  pthread_mutex_lock(&mutex);
  return unused;
}

static void* in_kernel(void* unused) {
  syscall(SYS_pause);
  return unused;
}

static void* refuses(void* unused) {
  int before = -1;
  CHECK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before) == 0);
  CHECK(before == PTHREAD_CANCEL_ENABLE);
  sem_post(&semaphore);
  for (int i = 0; i < 5; ++i) usleep(1);
  pthread_testcancel();
  return unused;
}

static void cancel(void* (*routine)(void*), void* argument) {
  pthread_t thread;
  void* result = NULL;
  pthread_create(&thread, NULL, routine, argument);
  sched_yield();
  CHECK(pthread_cancel(thread) == 0);
  CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
}

int main(void) {
  sem_init(&semaphore, 0, 0);
  cancel(in_condition, NULL);
  CHECK(pthread_mutex_trylock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0);
  cancel(in_semaphore, NULL);
  CHECK(order == 0 || order == 3);
  if (order == 3) CHECK(cleaned[2] < cleaned[1]);
  cancel(in_sleep, NULL);
  cancel(in_loop, NULL);
  cancel(asynchronous, NULL);
  pthread_mutex_lock(&mutex);
  cancel(asynchronous_in_lock, NULL);
  pthread_mutex_unlock(&mutex);
  cancel(in_kernel, NULL);
  pthread_t self = pthread_self();
  cancel(in_join, &self);

  pthread_t thread;
  void* result = NULL;
  pthread_create(&thread, NULL, refuses, &mutex);
  sem_wait(&semaphore);
  CHECK(pthread_cancel(thread) == 0);
  CHECK(pthread_join(thread, &result) == 0 && result == &mutex);
  puts("done");
  return 0;
}
