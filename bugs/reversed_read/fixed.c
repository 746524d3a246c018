// SPDX-License-Identifier: Apache-2.0
//
// Reversed read, fixed: both threads hold the lock over both values.

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
  s->count = 1;
  s->copy = 1;
  pthread_mutex_unlock(&s->lock);
}

static void* second(void* arg) {
  struct shared* s = arg;
  pthread_mutex_lock(&s->lock);
  int copy = s->copy;
  int count = s->count;
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
