// SPDX-License-Identifier: Apache-2.0
//
// Dekker. Who wants to enter announces it and then looks whether the other does too. Here the
// look comes first: both can see nobody and both enter.
// Origin: Shape of Dekker's algorithm as CLAP checks it, with the two steps of the entry
// exchanged.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

struct section {
  atomic_int wants[2];
  atomic_int inside;
};

/// Enters if nobody else wants to; never waits.
static int try_enter(struct section* s, int me) {
  if (atomic_load(&s->wants[1 - me])) return 0;  // heddle: culprit look
  atomic_store(&s->wants[me], 1);                // heddle: culprit announce
  return 1;
}

static void leave(struct section* s, int me) {
  atomic_store(&s->wants[me], 0);
}

static void visit(struct section* s, int me) {
  if (!try_enter(s, me)) return;
  assert(atomic_fetch_add(&s->inside, 1) == 0);
  atomic_fetch_sub(&s->inside, 1);
  leave(s, me);
}

static void* second(void* arg) {
  for (int i = 0; i < 2; ++i) visit(arg, 1);
  return NULL;
}

int main(void) {
  struct section* s = calloc(1, sizeof *s);
  if (s == NULL) return 1;
  pthread_t thread;
  pthread_create(&thread, NULL, second, s);
  for (int i = 0; i < 2; ++i) visit(s, 0);
  pthread_join(thread, NULL);
  free(s);
  return 0;
}
