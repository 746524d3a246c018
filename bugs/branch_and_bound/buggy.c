// SPDX-License-Identifier: Apache-2.0
//
// Branch and bound. Workers compute costs and keep the lowest: each compares its own with the
// best one so far and then stores it, in two locked steps. A worker that comes late covers a
// better solution found in between.
// Origin: LEAN's branch and bound (tsp): the best cost is compared and stored in separate steps.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

// bench/reduce builds a larger instance.
#ifndef WORKERS
#define WORKERS 3
#define COSTS 2
#endif
enum { kWorkers = WORKERS, kCosts = COSTS };

struct search {
  pthread_mutex_t lock;
  int best;
};

struct branch {
  struct search* search;
  int cost;
};

static void* explore(void* arg) {
  struct branch* b = arg;
  struct search* s = b->search;
  for (int cost = b->cost; cost > b->cost - kCosts; --cost) {
    pthread_mutex_lock(&s->lock);
    int best = s->best;  // heddle: culprit compare
    pthread_mutex_unlock(&s->lock);
    if (cost >= best) continue;
    pthread_mutex_lock(&s->lock);
    s->best = cost;  // heddle: culprit store
    pthread_mutex_unlock(&s->lock);
  }
  return NULL;
}

int main(void) {
  struct search* s = calloc(1, sizeof *s);
  struct branch* b = calloc(kWorkers, sizeof *b);
  if (s == NULL || b == NULL) return 1;
  pthread_mutex_init(&s->lock, NULL);
  s->best = 100;
  pthread_t thread[kWorkers];
  for (int i = 0; i < kWorkers; ++i) {
    b[i].search = s;
    b[i].cost = 30 - 5 * i;
    pthread_create(&thread[i], NULL, explore, &b[i]);
  }
  for (int i = 0; i < kWorkers; ++i) pthread_join(thread[i], NULL);
  assert(s->best == 30 - 5 * (kWorkers - 1) - (kCosts - 1));
  free(b);
  free(s);
  return 0;
}
