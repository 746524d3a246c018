// SPDX-License-Identifier: Apache-2.0
//
// Write skew. Each of two guards may leave as long as the other stays: it looks whether the other
// is there and then signs out, in two locked steps. Both can look first and then both leave.
// Origin: LOCON's shape 9 (R x, W y | R y, W x).

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
  int other = s->here[1 - me];  // heddle: culprit look
  pthread_mutex_unlock(&s->lock);
  pthread_mutex_lock(&s->lock);
  if (other) s->here[me] = 0;  // heddle: culprit leave
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
