// SPDX-License-Identifier: Apache-2.0
//
// Late claim, fixed: claim and owner change in one critical section.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct shared {
  pthread_mutex_t lock;
  int claimed_by;
  int owner;
};

static void first(struct shared* s) {
  pthread_mutex_lock(&s->lock);
  if (s->owner == 0) s->claimed_by = 1;
  if (s->owner == 0) s->owner = 1;
  pthread_mutex_unlock(&s->lock);
}

static void* second(void* arg) {
  struct shared* s = arg;
  pthread_mutex_lock(&s->lock);
  if (s->owner == 0) {
    s->claimed_by = 2;
    s->owner = 2;
  }
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
  assert(s->owner == s->claimed_by);
  free(s);
  return 0;
}
