// SPDX-License-Identifier: Apache-2.0
//
// Simple race. Two threads add different numbers to one variable, by reading, adding and storing.
// What one of them stores in between is lost.
// Origin: CLAP's simple race, the smallest of its programs.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

struct sum {
  atomic_int value;
};

static void add(struct sum* s, int n) {
  int seen = atomic_load(&s->value);  // heddle: culprit read
  atomic_store(&s->value, seen + n);  // heddle: culprit write
}

static void* worker(void* arg) {
  add(arg, 3);
  add(arg, 5);
  return NULL;
}

int main(void) {
  struct sum* s = calloc(1, sizeof *s);
  if (s == NULL) return 1;
  pthread_t thread;
  pthread_create(&thread, NULL, worker, s);
  add(s, 10);
  pthread_join(thread, NULL);
  assert(atomic_load(&s->value) == 18);
  free(s);
  return 0;
}
