// SPDX-License-Identifier: Apache-2.0
//
// Two threads that do nothing but let each other go on: the cost of a turn, decided and recorded.
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

enum { kTurns = 100000 };

static void* yield_often(void* unused) {
  for (int i = 0; i < kTurns; ++i) sched_yield();
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, yield_often, NULL);
  yield_often(NULL);
  pthread_join(thread, NULL);
  return 0;
}
