// SPDX-License-Identifier: Apache-2.0
//
// Write skew, fixed: looking and signing out are one critical section.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct shared {
  pthread_mutex_t lock;
  int here[2];
};

static void leave(struct shared* s, int me) {
  pthread_mutex_lock(&s->lock);
  int other = s->here[1 - me];
  if (other) s->here[me] = 0;
  pthread_mutex_unlock(&s->lock);
}

static void first(struct shared* s) {
  leave(s, 0);
}

static void* second(void* arg) {
  leave(arg, 1);
  return NULL;
}

int main(void) {
  struct shared* s = calloc(1, sizeof *s);
  if (s == NULL) return 1;
  pthread_mutex_init(&s->lock, NULL);
  s->here[0] = s->here[1] = 1;
  pthread_t other;
  pthread_create(&other, NULL, second, s);
  first(s);
  pthread_join(other, NULL);
  assert(s->here[0] + s->here[1] == 1);
  free(s);
  return 0;
}
