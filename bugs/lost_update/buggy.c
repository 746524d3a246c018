// SPDX-License-Identifier: Apache-2.0
//
// Lost update. Two threads count hits of a page in one plain variable. Each hit reads the total,
// adds one and writes it back; a thread preempted between the read and the write overwrites the
// hits that the other thread counted meanwhile, and the final total is too small.
// Origin: the textbook unprotected counter, e.g. the statistics counters of many servers.
// Usage: buggy [hits per thread, default 1]

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

static long hits;

// Not inlined: every hit stays one load and one store, however its caller loops.
__attribute__((noinline)) static void record_hit(void) {
  long seen = hits;  // heddle: culprit read
  hits = seen + 1;   // heddle: culprit write
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
