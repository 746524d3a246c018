// SPDX-License-Identifier: Apache-2.0
//
// Read-write lock upgrade, fixed: the slot is looked at again under the write lock.

#define _XOPEN_SOURCE 700  // for read-write locks

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct cache {
  pthread_rwlock_t lock;
  int filled;
};

static int is_filled(struct cache* c) {
  pthread_rwlock_rdlock(&c->lock);
  int filled = c->filled;
  pthread_rwlock_unlock(&c->lock);
  return filled;
}

static void fill(struct cache* c) {
  pthread_rwlock_wrlock(&c->lock);
  if (!c->filled) c->filled = 1;
  pthread_rwlock_unlock(&c->lock);
}

static void* worker(void* arg) {
  if (!is_filled(arg)) fill(arg);
  return NULL;
}

int main(void) {
  struct cache* c = calloc(1, sizeof *c);
  if (c == NULL) return 1;
  pthread_rwlock_init(&c->lock, NULL);
  pthread_t thread;
  pthread_create(&thread, NULL, worker, c);
  worker(c);
  pthread_join(thread, NULL);
  assert(c->filled);
  pthread_rwlock_destroy(&c->lock);
  free(c);
  return 0;
}
