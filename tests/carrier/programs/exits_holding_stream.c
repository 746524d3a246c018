// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

#include <sched.h>

static void* hold(void* unused) {
  flockfile(stdout);
  pthread_mutex_lock(&mutex);
  return NULL;
}
int main(void) {
  run_threads();
  fflush(stdout);
  pthread_mutex_lock(&mutex);
  pthread_t thread;
  pthread_create(&thread, NULL, hold, NULL);
  for (int i = 0; i < 50; ++i) sched_yield();
  return 0;
}
