// SPDX-License-Identifier: Apache-2.0
//
// Resumed download, fixed: an advance changes both under the lock, and so does saving read them.

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
    ++p->d->offset[p->number];
    ++p->d->total;
    pthread_mutex_unlock(&p->d->lock);
  }
  return NULL;
}

static void save(struct download* d) {
  pthread_mutex_lock(&d->lock);
  int sum = 0;
  for (int i = 0; i < kParts; ++i) sum += d->offset[i];
  int total = d->total;
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
