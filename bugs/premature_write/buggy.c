// SPDX-License-Identifier: Apache-2.0
//
// Premature write. Main publishes a record and reads it back later; a thread that recycles old
// records is started in between and does not wait until this one has been read. The lock makes
// each access atomic; the order of the two is left to chance.
// Origin: LOCON's shape 1 (an unexpected value is read because a write comes too early).

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct shared {
  pthread_mutex_t lock;
  int record;
};

static int record_get(struct shared* s) {
  pthread_mutex_lock(&s->lock);
  int value = s->record;  // heddle: culprit read
  pthread_mutex_unlock(&s->lock);
  return value;
}

static void record_set(struct shared* s, int value) {
  pthread_mutex_lock(&s->lock);
  s->record = value;  // heddle: culprit write
  pthread_mutex_unlock(&s->lock);
}

static void* recycle(void* arg) {
  record_set(arg, 0);
  return NULL;
}

int main(void) {
  struct shared* s = calloc(1, sizeof *s);
  if (s == NULL) return 1;
  pthread_mutex_init(&s->lock, NULL);
  record_set(s, 1);
  pthread_t thread;
  pthread_create(&thread, NULL, recycle, s);
  int value = record_get(s);
  assert(value == 1);
  pthread_join(thread, NULL);
  free(s);
  return 0;
}
