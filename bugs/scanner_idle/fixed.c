// SPDX-License-Identifier: Apache-2.0
//
// Idle scanners, fixed: decrement and test are one critical section.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

enum { kScanners = 2 };

struct scan {
  pthread_mutex_t lock;
  int files;
  int busy;
  int closed;
};

static int next_file(struct scan* s) {
  pthread_mutex_lock(&s->lock);
  int file = s->files;
  if (file > 0) --s->files;
  pthread_mutex_unlock(&s->lock);
  return file;
}

static void* scanner(void* arg) {
  struct scan* s = arg;
  while (next_file(s) > 0) {
  }
  pthread_mutex_lock(&s->lock);
  --s->busy;
  if (s->busy == 0) {
    assert(!s->closed);
    s->closed = 1;
  }
  pthread_mutex_unlock(&s->lock);
  return NULL;
}

int main(void) {
  struct scan* s = calloc(1, sizeof *s);
  if (s == NULL) return 1;
  pthread_mutex_init(&s->lock, NULL);
  s->files = 2;
  s->busy = kScanners;
  pthread_t thread[kScanners];
  for (int i = 0; i < kScanners; ++i) pthread_create(&thread[i], NULL, scanner, s);
  for (int i = 0; i < kScanners; ++i) pthread_join(thread[i], NULL);
  free(s);
  return 0;
}
