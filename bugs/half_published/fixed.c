// SPDX-License-Identifier: Apache-2.0
//
// Half published, fixed: the pair is published in one critical section.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct shared {
  pthread_mutex_t lock;
  int id;
  int check;
};

static void first(struct shared* s) {
  pthread_mutex_lock(&s->lock);
  s->id = 5;
  s->check = 5;
  pthread_mutex_unlock(&s->lock);
}

static void* second(void* arg) {
  struct shared* s = arg;
  pthread_mutex_lock(&s->lock);
  int replaced = s->id;
  s->id = 7;
  int check = s->check;
  pthread_mutex_unlock(&s->lock);
  assert(replaced == check);
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
