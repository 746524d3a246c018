// SPDX-License-Identifier: Apache-2.0
//
// Read back. Two requests use one scratch slot: each stores its number there and reads it back a
// little later. The lock protects each access, not the two together.
// Origin: LOCON's shape 4 (W-W-R).

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct shared {
  pthread_mutex_t lock;
  int slot;
};

static void request(struct shared* s, int number) {
  pthread_mutex_lock(&s->lock);
  s->slot = number;  // heddle: culprit write
  pthread_mutex_unlock(&s->lock);
  pthread_mutex_lock(&s->lock);
  int seen = s->slot;  // heddle: culprit read
  pthread_mutex_unlock(&s->lock);
  assert(seen == number);
}

static void* second(void* arg) {
  request(arg, 2);
  return NULL;
}

int main(void) {
  struct shared* s = calloc(1, sizeof *s);
  if (s == NULL) return 1;
  pthread_mutex_init(&s->lock, NULL);
  pthread_t thread;
  pthread_create(&thread, NULL, second, s);
  request(s, 1);
  pthread_join(thread, NULL);
  free(s);
  return 0;
}
