// SPDX-License-Identifier: Apache-2.0
// Joining with and without waiting, detached threads, attributes and names, leaving main early.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../check.h"

static sem_t go;
static int key_destroyed;

static void* wait_for_go(void* value) {
  sem_wait(&go);
  return value;
}

static void* look_at_itself(void* unused) {
  pthread_attr_t attributes;
  CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
  void* lowest = NULL;
  size_t bytes = 0;
  CHECK(pthread_attr_getstack(&attributes, &lowest, &bytes) == 0);
  CHECK((char*)&bytes > (char*)lowest && (char*)&bytes < (char*)lowest + bytes);
  pthread_attr_destroy(&attributes);
  char name[16] = "";
  CHECK(pthread_setname_np(pthread_self(), "weaver") == 0);
  CHECK(pthread_getname_np(pthread_self(), name, sizeof name) == 0);
  CHECK(strcmp(name, "weaver") == 0);
  CHECK(pthread_setname_np(pthread_self(), "a name that is too long") == ERANGE);
  cpu_set_t processors;
  CHECK(pthread_getaffinity_np(pthread_self(), sizeof processors, &processors) == 0);
  CHECK(CPU_COUNT(&processors) >= 1);
  CHECK(pthread_setaffinity_np(pthread_self(), sizeof processors, &processors) == 0);
  struct sched_param parameters;
  int policy = -1;
  CHECK(pthread_getschedparam(pthread_self(), &policy, &parameters) == 0);
  CHECK(policy == SCHED_OTHER && pthread_setschedparam(pthread_self(), policy, &parameters) == 0);
  return unused;
}

static void* last(void* unused) {
  while (key_destroyed == 0) sched_yield();  // it outlives main
  puts("done");
  return unused;
}

static void* detached(void* unused) {
  sem_post(&go);
  return unused;
}

static void destroy(void* value) {
  CHECK(value == &go);
  ++key_destroyed;
}

static void clean(void* unused) {
  (void)unused;
  puts("cleaned");
}

int main(void) {
  sem_init(&go, 0, 0);
  pthread_t thread;
  void* result = NULL;
  pthread_create(&thread, NULL, wait_for_go, &go);
  CHECK(pthread_tryjoin_np(thread, &result) == EBUSY);
  struct timespec deadline;
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_sec += 5;
  CHECK(pthread_timedjoin_np(thread, &result, &deadline) == ETIMEDOUT);
  CHECK(pthread_clockjoin_np(thread, &result, CLOCK_MONOTONIC, &deadline) == ETIMEDOUT);
  sem_post(&go);
  while (pthread_tryjoin_np(thread, &result) != 0) sched_yield();
  CHECK(result == &go);
  CHECK(pthread_join(pthread_self(), NULL) == EDEADLK);

  pthread_create(&thread, NULL, look_at_itself, NULL);
  pthread_join(thread, NULL);

  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, 16 << 20);
  pthread_create(&thread, &attributes, detached, NULL);
  CHECK(pthread_join(thread, NULL) == EINVAL);
  sem_wait(&go);

  pthread_key_t key;
  pthread_key_create(&key, destroy);
  pthread_setspecific(key, &go);
  pthread_create(&thread, NULL, last, NULL);
  pthread_cleanup_push(clean, NULL);
  pthread_exit(NULL);
  pthread_cleanup_pop(0);
  return 1;
}
