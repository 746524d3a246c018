// SPDX-License-Identifier: Apache-2.0
//
// Stale snapshot, fixed: each operation is one critical section.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct shared {
  pthread_mutex_t lock;
  int version;
  int snapshot;
  int flaw;
};

static void first(struct shared* s) {
  pthread_mutex_lock(&s->lock);
  int version = s->version;
  s->snapshot = version;
  pthread_mutex_unlock(&s->lock);
}

static void* second(void* arg) {
  struct shared* s = arg;
  pthread_mutex_lock(&s->lock);
  s->version = 2;
  int seen = s->snapshot;
  if (seen == 0) s->flaw = 1;
  pthread_mutex_unlock(&s->lock);
  return NULL;
}

int main(void) {
  struct shared* s = calloc(1, sizeof *s);
  if (s == NULL) return 1;
  pthread_mutex_init(&s->lock, NULL);
  s->version = 1;
  pthread_t other;
  pthread_create(&other, NULL, second, s);
  first(s);
  pthread_join(other, NULL);
  // Whoever came first: a snapshot taken before the change was seen by it, or is of version 2.
  assert(!(s->flaw && s->snapshot == 1));
  free(s);
  return 0;
}
