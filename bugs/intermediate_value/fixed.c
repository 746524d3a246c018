// SPDX-License-Identifier: Apache-2.0
//
// Intermediate value, fixed: the booking is one critical section.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct account {
  pthread_mutex_t lock;
  int balance;
};

static void book(struct account* a, int amount) {
  pthread_mutex_lock(&a->lock);
  int all = a->balance;
  a->balance = 0;
  a->balance = all - amount;
  pthread_mutex_unlock(&a->lock);
}

static void* audit(void* arg) {
  struct account* a = arg;
  pthread_mutex_lock(&a->lock);
  int seen = a->balance;
  pthread_mutex_unlock(&a->lock);
  assert(seen >= 50);
  return NULL;
}

int main(void) {
  struct account* a = calloc(1, sizeof *a);
  if (a == NULL) return 1;
  pthread_mutex_init(&a->lock, NULL);
  a->balance = 100;
  pthread_t thread;
  pthread_create(&thread, NULL, audit, a);
  book(a, 30);
  pthread_join(thread, NULL);
  free(a);
  return 0;
}
