// SPDX-License-Identifier: Apache-2.0
//
// Log rotation, fixed: closing and opening are one critical section.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct binlog {
  pthread_mutex_t lock;
  int open;
  int logged;
};

static void rotate(struct binlog* b) {
  pthread_mutex_lock(&b->lock);
  b->open = 0;
  b->open = 1;
  pthread_mutex_unlock(&b->lock);
}

static void* execute(void* arg) {
  struct binlog* b = arg;
  for (int i = 0; i < 2; ++i) {
    pthread_mutex_lock(&b->lock);
    if (b->open) ++b->logged;
    pthread_mutex_unlock(&b->lock);
  }
  return NULL;
}

int main(void) {
  struct binlog* b = calloc(1, sizeof *b);
  if (b == NULL) return 1;
  pthread_mutex_init(&b->lock, NULL);
  b->open = 1;
  pthread_t thread;
  pthread_create(&thread, NULL, execute, b);
  rotate(b);
  pthread_join(thread, NULL);
  assert(b->logged == 2);
  free(b);
  return 0;
}
