// SPDX-License-Identifier: Apache-2.0
//
// Reversed read. One thread stores a counter and then its copy, the other reads the copy and then
// the counter. The copy may only lag behind by nothing at all: the pair is meant to change as
// one.
// Origin: LOCON's shape 13 (W x, W y | R y, R x).

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct shared {
  pthread_mutex_t lock;
  int count;
  int copy;
};

static void first(struct shared* s) {
  pthread_mutex_lock(&s->lock);
  s->count = 1;  // heddle: culprit write-count
  pthread_mutex_unlock(&s->lock);
  pthread_mutex_lock(&s->lock);
  s->copy = 1;  // heddle: culprit write-copy
  pthread_mutex_unlock(&s->lock);
}

static void* second(void* arg) {
  struct shared* s = arg;
  pthread_mutex_lock(&s->lock);
  int copy = s->copy;  // heddle: culprit read-copy
  pthread_mutex_unlock(&s->lock);
  pthread_mutex_lock(&s->lock);
  int count = s->count;  // heddle: culprit read-count
  pthread_mutex_unlock(&s->lock);
  assert(copy == count);
  return NULL;
}

int main(void) {
  struct shared* s = calloc(1, sizeof *s);
  if (s == NULL) return 1;
  pthread_mutex_init(&s->lock, NULL);

  pthread_t other;
  pthread_create(&other, NULL, second, s);
  first(s);
  pthread_join(other, NULL);

  free(s);
  return 0;
}
