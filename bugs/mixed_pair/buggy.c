// SPDX-License-Identifier: Apache-2.0
//
// Mixed pair. Two threads store a pair of related values, each value under the lock but not both
// together. One can slip in between the other's two steps and what remains is half of each.
// Origin: LOCON's shape 12 (W x, W y | W x, W y).

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct shared {
  pthread_mutex_t lock;
  int width;
  int height;
};

static void resize(struct shared* s, int size) {
  pthread_mutex_lock(&s->lock);
  s->width = size;  // heddle: culprit write-width
  pthread_mutex_unlock(&s->lock);
  pthread_mutex_lock(&s->lock);
  s->height = size;  // heddle: culprit write-height
  pthread_mutex_unlock(&s->lock);
}

static void first(struct shared* s) {
  resize(s, 1);
}

static void* second(void* arg) {
  resize(arg, 2);
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
  assert(s->width == s->height);
  free(s);
  return 0;
}
