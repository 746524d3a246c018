// SPDX-License-Identifier: Apache-2.0
//
// Resumed download. Each downloading thread advances its own offset and then the total. A thread
// that saves the state for a later resume reads offsets and total one after the other; in between
// they need not agree.
// Origin: Shape of aget's interrupt handler, which saves the offsets while downloading threads
// move them.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

enum { kParts = 2, kChunks = 2 };

struct download {
  pthread_mutex_t lock;
  int offset[kParts];
  int total;
};

struct part {
  struct download* d;
  int number;
};

static void* fetch(void* arg) {
  struct part* p = arg;
  for (int i = 0; i < kChunks; ++i) {
    pthread_mutex_lock(&p->d->lock);
    ++p->d->offset[p->number];  // heddle: culprit advance
    pthread_mutex_unlock(&p->d->lock);
    pthread_mutex_lock(&p->d->lock);
    ++p->d->total;  // heddle: culprit count
    pthread_mutex_unlock(&p->d->lock);
  }
  return NULL;
}

static void save(struct download* d) {
  pthread_mutex_lock(&d->lock);
  int sum = 0;
  for (int i = 0; i < kParts; ++i) sum += d->offset[i];  // heddle: culprit read-offsets
  int total = d->total;                                  // heddle: culprit read-total
  pthread_mutex_unlock(&d->lock);
  assert(sum == total);
}

int main(void) {
  struct download* d = calloc(1, sizeof *d);
  struct part* part = calloc(kParts, sizeof *part);
  if (d == NULL || part == NULL) return 1;
  pthread_mutex_init(&d->lock, NULL);
  pthread_t thread[kParts];
  for (int i = 0; i < kParts; ++i) {
    part[i].d = d;
    part[i].number = i;
    pthread_create(&thread[i], NULL, fetch, &part[i]);
  }
  save(d);
  for (int i = 0; i < kParts; ++i) pthread_join(thread[i], NULL);
  free(part);
  free(d);
  return 0;
}
