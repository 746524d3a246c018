// SPDX-License-Identifier: Apache-2.0
//
// Two threads that both create threads, in whatever order: prints what addresses each thread sees.
#include "threads.h"

#include <stdlib.h>

enum { kParents = 3, kChildren = 2 };

struct seen {
  void *stack, *heap, *storage;
};
static struct seen seen[kParents][kChildren + 1];
static __thread int storage;

static void look(struct seen* at) {
  int local;
  struct seen saw = {&local, malloc(24), &storage};
  *at = saw;
}

static void* child(void* at) {
  look(at);
  return NULL;
}

static void* parent(void* at) {
  struct seen* const own = at;
  pthread_t children[kChildren];
  look(own);
  for (int i = 0; i < kChildren; ++i) pthread_create(&children[i], NULL, child, own + i + 1);
  for (int i = 0; i < kChildren; ++i) pthread_join(children[i], NULL);
  return NULL;
}

int main(void) {
  pthread_t parents[kParents];
  for (int i = 0; i < kParents; ++i) pthread_create(&parents[i], NULL, parent, seen[i]);
  for (int i = 0; i < kParents; ++i) pthread_join(parents[i], NULL);
  for (int i = 0; i < kParents; ++i) {
    for (int j = 0; j <= kChildren; ++j) {
      const struct seen* const saw = &seen[i][j];
      printf("t0.%d.%d %p %p %p\n", i + 1, j, saw->stack, saw->heap, saw->storage);
    }
  }
  return 0;
}
