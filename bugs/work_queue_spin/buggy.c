// SPDX-License-Identifier: Apache-2.0
//
// Spinning work queue. Workers spin, yielding, until there is work, then take the newest item:
// they read the count and store it decremented, in two steps. Two that see the same count take
// the same item.
// Origin: Family that defeats strategies without fairness: workers wait for work by looking again
// and again.

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

enum { kWorkers = 2 };

struct queue {
  atomic_int count;
  atomic_int taken[kWorkers + 1];
};

static void* worker(void* arg) {
  struct queue* q = arg;
  int count = atomic_load(&q->count);  // heddle: culprit read
  while (count == 0) {
    sched_yield();
    count = atomic_load(&q->count);  // heddle: culprit read
  }
  atomic_store(&q->count, count - 1);  // heddle: culprit write
  assert(atomic_fetch_add(&q->taken[count], 1) == 0);
  return NULL;
}

int main(void) {
  struct queue* q = calloc(1, sizeof *q);
  if (q == NULL) return 1;
  pthread_t thread[kWorkers];
  for (int i = 0; i < kWorkers; ++i) pthread_create(&thread[i], NULL, worker, q);
  atomic_store(&q->count, kWorkers);
  for (int i = 0; i < kWorkers; ++i) pthread_join(thread[i], NULL);
  free(q);
  return 0;
}
