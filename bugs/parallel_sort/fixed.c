// SPDX-License-Identifier: Apache-2.0
//
// Parallel sort, fixed: the merging worker waits for both halves.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct sort {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int sorted;
  int smallest;
  int value[4];
};

static void sort_half(struct sort* s, int* half) {
  if (half[0] > half[1]) {
    int low = half[1];
    half[1] = half[0];
    half[0] = low;
  }
  pthread_mutex_lock(&s->lock);
  ++s->sorted;
  pthread_cond_broadcast(&s->changed);
  pthread_mutex_unlock(&s->lock);
}

static void* merger(void* arg) {
  struct sort* s = arg;
  sort_half(s, &s->value[2]);
  pthread_mutex_lock(&s->lock);
  while (s->sorted < 2) pthread_cond_wait(&s->changed, &s->lock);
  pthread_mutex_unlock(&s->lock);
  s->smallest = s->value[0] < s->value[2] ? s->value[0] : s->value[2];
  return NULL;
}

int main(void) {
  struct sort* s = calloc(1, sizeof *s);
  if (s == NULL) return 1;
  pthread_mutex_init(&s->lock, NULL);
  pthread_cond_init(&s->changed, NULL);
  s->value[0] = 4;
  s->value[1] = 1;
  s->value[2] = 3;
  s->value[3] = 2;
  pthread_t thread;
  pthread_create(&thread, NULL, merger, s);
  sort_half(s, &s->value[0]);
  pthread_join(thread, NULL);
  assert(s->smallest == 1);
  free(s);
  return 0;
}
