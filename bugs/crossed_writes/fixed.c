// SPDX-License-Identifier: Apache-2.0
//
// Crossed writes, fixed: each thread stores its pair in one critical section.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct shared {
  pthread_mutex_t lock;
  int key;
  int value;
};

static void first(struct shared* s) {
  pthread_mutex_lock(&s->lock);
  s->key = 1;
  s->value = 1;
  pthread_mutex_unlock(&s->lock);
}

static void* second(void* arg) {
  struct shared* s = arg;
  pthread_mutex_lock(&s->lock);
  s->value = 2;
  s->key = 2;
  pthread_mutex_unlock(&s->lock);
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
  assert(s->key == s->value);
  free(s);
  return 0;
}
