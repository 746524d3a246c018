// SPDX-License-Identifier: Apache-2.0
//
// Bounded buffer. Consumers wait until the buffer holds something, but look only once: between
// the signal and the moment the woken consumer has the lock again, another consumer can take the
// item.
// Origin: CLAP's bounded buffer; the classic `if` in place of `while` around a condition
// variable.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

enum { kConsumers = 2 };

struct buffer {
  pthread_mutex_t lock;
  pthread_cond_t filled;
  int items;
};

static void put(struct buffer* b) {
  pthread_mutex_lock(&b->lock);
  ++b->items;
  pthread_cond_signal(&b->filled);
  pthread_mutex_unlock(&b->lock);
}

static void* consumer(void* arg) {
  struct buffer* b = arg;
  pthread_mutex_lock(&b->lock);
  if (b->items == 0) pthread_cond_wait(&b->filled, &b->lock);  // heddle: culprit check
  assert(b->items > 0);                                        // heddle: culprit take
  --b->items;                                                  // heddle: culprit take
  pthread_mutex_unlock(&b->lock);
  return NULL;
}

int main(void) {
  struct buffer* b = calloc(1, sizeof *b);
  if (b == NULL) return 1;
  pthread_mutex_init(&b->lock, NULL);
  pthread_cond_init(&b->filled, NULL);
  pthread_t thread[kConsumers];
  for (int i = 0; i < kConsumers; ++i) pthread_create(&thread[i], NULL, consumer, b);
  for (int i = 0; i < kConsumers; ++i) put(b);
  for (int i = 0; i < kConsumers; ++i) pthread_join(thread[i], NULL);
  free(b);
  return 0;
}
