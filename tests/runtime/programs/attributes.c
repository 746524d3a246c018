// SPDX-License-Identifier: Apache-2.0
// Attributes of threads: defaults, and those that libc refuses.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>

static void* with_mask(void* unused) {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  assert(sigismember(&mask, SIGHUP));
  return unused;
}

static void* nothing(void* unused) {
  return unused;
}

static void run(const pthread_attr_t* attributes, void* (*routine)(void*)) {
  pthread_t thread;
  assert(pthread_create(&thread, attributes, routine, NULL) == 0);
  assert(pthread_join(thread, NULL) == 0);
}

int main(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
  pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
  struct sched_param parameters = {.sched_priority = 1};
  pthread_attr_setschedparam(&attributes, &parameters);
  pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
  assert(pthread_create(&thread, &attributes, &nothing, NULL) == EINVAL);
  pthread_attr_destroy(&attributes);

  pthread_attr_init(&attributes);
  cpu_set_t none;
  CPU_ZERO(&none);
  pthread_attr_setaffinity_np(&attributes, sizeof none, &none);
  assert(pthread_create(&thread, &attributes, &nothing, NULL) == EINVAL);
  pthread_attr_destroy(&attributes);

  pthread_attr_init(&attributes);
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGHUP);
  pthread_attr_setsigmask_np(&attributes, &mask);
  assert(pthread_setattr_default_np(&attributes) == 0);
  run(NULL, &with_mask);
  puts("done");
  return 0;
}
