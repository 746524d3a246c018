// SPDX-License-Identifier: Apache-2.0
//
// Stale snapshot. One thread copies the current version into the snapshot, in two locked steps;
// the other moves the version on and compares it with the snapshot, in two locked steps too. Each
// order of whole operations keeps the snapshot at most one version behind.
// Origin: LOCON's shape 8 (R x, W y | W x, R y).

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
  int version = s->version;  // heddle: culprit read-version
  pthread_mutex_unlock(&s->lock);
  pthread_mutex_lock(&s->lock);
  s->snapshot = version;  // heddle: culprit write-snapshot
  pthread_mutex_unlock(&s->lock);
}

static void* second(void* arg) {
  struct shared* s = arg;
  pthread_mutex_lock(&s->lock);
  s->version = 2;  // heddle: culprit write-version
  pthread_mutex_unlock(&s->lock);
  pthread_mutex_lock(&s->lock);
  int seen = s->snapshot;  // heddle: culprit read-snapshot
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
