// SPDX-License-Identifier: Apache-2.0
//
// Intermediate value. A booking first takes the whole balance and then puts back what is left;
// each step is locked. An auditor that looks in between sees an empty account.
// Origin: LOCON's shape 7 (W-R-W).

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
  a->balance = 0;  // heddle: culprit take
  pthread_mutex_unlock(&a->lock);
  pthread_mutex_lock(&a->lock);
  a->balance = all - amount;  // heddle: culprit put
  pthread_mutex_unlock(&a->lock);
}

static void* audit(void* arg) {
  struct account* a = arg;
  pthread_mutex_lock(&a->lock);
  int seen = a->balance;  // heddle: culprit read
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
