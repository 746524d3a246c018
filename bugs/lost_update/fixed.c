// SPDX-License-Identifier: Apache-2.0
//
// Lost update, fixed: a mutex makes the read and the write of a hit one step.
// Usage: fixed [hits per thread, default 1]

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

static pthread_mutex_t hits_lock = PTHREAD_MUTEX_INITIALIZER;
static long hits;

// Not inlined: every hit stays one load and one store, however its caller loops.
__attribute__((noinline)) static void record_hit(void) {
  pthread_mutex_lock(&hits_lock);
  long seen = hits;
  hits = seen + 1;
  pthread_mutex_unlock(&hits_lock);
}

static void* visitor(void* arg) {
  const int rounds = *(const int*)arg;
  for (int i = 0; i < rounds; ++i) record_hit();
  return NULL;
}

int main(int argc, char** argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 1;

  pthread_t other;
  pthread_create(&other, NULL, visitor, &rounds);
  visitor(&rounds);
  pthread_join(other, NULL);

  assert(hits == 2L * rounds);
  return 0;
}
