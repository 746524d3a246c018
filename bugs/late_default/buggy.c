// SPDX-License-Identifier: Apache-2.0
//
// Late default. Main starts the thread that stores what the user asked for and only then stores
// the default of the same setting. If the thread is faster, the default covers the user's value.
// Origin: LOCON's shape 3 (the first write is covered by the second); FFT and transmission have
// it.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct shared {
  pthread_mutex_t lock;
  int limit;
};

static void set_limit(struct shared* s, int limit) {
  pthread_mutex_lock(&s->lock);
  s->limit = limit;  // heddle: culprit write
  pthread_mutex_unlock(&s->lock);
}

static void* read_settings(void* arg) {
  set_limit(arg, 99);
  return NULL;
}

int main(void) {
  struct shared* s = calloc(1, sizeof *s);
  if (s == NULL) return 1;
  pthread_mutex_init(&s->lock, NULL);
  pthread_t thread;
  pthread_create(&thread, NULL, read_settings, s);
  set_limit(s, 10);
  pthread_join(thread, NULL);
  assert(s->limit == 99);
  free(s);
  return 0;
}
