// SPDX-License-Identifier: Apache-2.0
//
// ABA, fixed: the top carries a count that every change increments.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

enum { kNodes = 3, kNone = 255 };

// The top: index of a node in the low byte, a count of changes above it.
struct stack {
  atomic_uint top;
  atomic_uint next[kNodes];
  atomic_int taken[kNodes];
};

static unsigned with_index(unsigned top, unsigned index) {
  return ((top | 255u) + 1u) | index;
}

static unsigned pop(struct stack* s) {
  for (;;) {
    unsigned top = atomic_load(&s->top);
    unsigned node = top & 255u;
    if (node == kNone) return kNone;
    unsigned next = atomic_load(&s->next[node]);
    if (atomic_compare_exchange_strong(&s->top, &top, with_index(top, next))) {
      assert(atomic_fetch_add(&s->taken[node], 1) == 0);
      return node;
    }
  }
}

static void push(struct stack* s, unsigned node) {
  atomic_fetch_sub(&s->taken[node], 1);
  unsigned top = atomic_load(&s->top);
  do {
    atomic_store(&s->next[node], top & 255u);
  } while (!atomic_compare_exchange_strong(&s->top, &top, with_index(top, node)));
}

static void* second(void* arg) {
  struct stack* s = arg;
  unsigned a = pop(s);
  unsigned b = pop(s);
  if (a != kNone) push(s, a);
  (void)b;
  return NULL;
}

int main(void) {
  struct stack* s = calloc(1, sizeof *s);
  if (s == NULL) return 1;
  for (unsigned i = 0; i < kNodes; ++i) atomic_store(&s->next[i], i + 1 < kNodes ? i + 1 : kNone);
  pthread_t thread;
  pthread_create(&thread, NULL, second, s);
  pop(s);
  pop(s);
  pthread_join(thread, NULL);
  free(s);
  return 0;
}
