// SPDX-License-Identifier: Apache-2.0
//
// Log rotation. Rotating closes the log and opens a new one. A statement that looks in between
// finds it closed and, as with logging switched off, goes unlogged.
// Origin: Shape of MySQL's log rotation: closed and opened again in two steps while others test
// whether it is open (W-R-W).

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
  b->open = 0;  // heddle: culprit close
  pthread_mutex_unlock(&b->lock);
  pthread_mutex_lock(&b->lock);
  b->open = 1;  // heddle: culprit open
  pthread_mutex_unlock(&b->lock);
}

static void* execute(void* arg) {
  struct binlog* b = arg;
  for (int i = 0; i < 2; ++i) {
    pthread_mutex_lock(&b->lock);
    if (b->open) ++b->logged;  // heddle: culprit test
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
