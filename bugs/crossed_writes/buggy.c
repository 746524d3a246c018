// SPDX-License-Identifier: Apache-2.0
//
// Crossed writes. One thread stores key and then value, the other value and then key, each store
// under the lock. Interleaved, one's key stands with the other's value.
// Origin: LOCON's shape 15 (W x, W y | W y, W x).

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct shared {
  pthread_mutex_t lock;
  int key;
  int value;
};

static void first(struct shared* s) {
  pthread_mutex_lock(&s->lock);
  s->key = 1;  // heddle: culprit write-key
  pthread_mutex_unlock(&s->lock);
  pthread_mutex_lock(&s->lock);
  s->value = 1;  // heddle: culprit write-value
  pthread_mutex_unlock(&s->lock);
}

static void* second(void* arg) {
  struct shared* s = arg;
  pthread_mutex_lock(&s->lock);
  s->value = 2;  // heddle: culprit write-value
  pthread_mutex_unlock(&s->lock);
  pthread_mutex_lock(&s->lock);
  s->key = 2;  // heddle: culprit write-key
  pthread_mutex_unlock(&s->lock);
  return NULL;
}

int main(void) {
  struct shared* s = calloc(1, sizeof *s);
  if (s == NULL) return 1;
  pthread_mutex_init(&s->lock, NULL);

  pthread_t other;
  pthread_create(&other, NULL, second, s);
  first(s);
  pthread_join(other, NULL);
  assert(s->key == s->value);
  free(s);
  return 0;
}
