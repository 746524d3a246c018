// SPDX-License-Identifier: Apache-2.0
//
// Bakery. Each customer draws a number larger than the other's and enters if its own is the
// smaller. A customer that has read the other's number but not yet taken its own is overlooked:
// both may have the same number, or a smaller one appears later.
// Origin: Shape of Lamport's bakery as CLAP checks it, without the flag that says a number is
// being drawn.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

struct section {
  atomic_int drawing[2];
  atomic_int number[2];
  atomic_int inside;
};

/// Enters if nobody else wants to; never waits.
static int try_enter(struct section* s, int me) {
  int mine = atomic_load(&s->number[1 - me]) + 1;  // heddle: culprit look
  atomic_store(&s->number[me], mine);              // heddle: culprit announce
  int other = atomic_load(&s->number[1 - me]);
  if (other == 0 || mine < other || (mine == other && me == 0)) return 1;
  atomic_store(&s->number[me], 0);
  return 0;
}

static void leave(struct section* s, int me) {
  atomic_store(&s->number[me], 0);
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
