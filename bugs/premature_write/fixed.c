// SPDX-License-Identifier: Apache-2.0
//
// Premature write, fixed: the recycling thread is started only when the record has been read.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct shared {
  pthread_mutex_t lock;
  int record;
};

static int record_get(struct shared* s) {
  pthread_mutex_lock(&s->lock);
  int value = s->record;
  pthread_mutex_unlock(&s->lock);
  return value;
}

static void record_set(struct shared* s, int value) {
  pthread_mutex_lock(&s->lock);
  s->record = value;
  pthread_mutex_unlock(&s->lock);
}

static void* recycle(void* arg) {
  record_set(arg, 0);
  return NULL;
}

int main(void) {
  struct shared* s = calloc(1, sizeof *s);
  if (s == NULL) return 1;
  pthread_mutex_init(&s->lock, NULL);
  record_set(s, 1);
  pthread_t thread;
  int value = record_get(s);
  pthread_create(&thread, NULL, recycle, s);
  assert(value == 1);
  pthread_join(thread, NULL);
  free(s);
  return 0;
}
