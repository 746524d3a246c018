// SPDX-License-Identifier: Apache-2.0
//
// A lost update in C. Both threads run the same line, so each takes whichever side is open.
#include <heddle/breakpoint_c.h>
#include <stdio.h>

static long hits;

static void* visit(void* arg) {
  long seen = hits;
  heddle_bp_conflict("lost update", HEDDLE_ANY, &hits, .bound = 1);
  hits = seen + 1;
  return arg;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], 0, visit, 0);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  printf("%ld of 2 hits counted\n", hits);
  return hits == 2 ? 0 : 1;
}
