// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

static void last(void) {
  printf(" and the last handler");
}
static void first(void) {
  printf("a handler");
}
int main(void) {
  run_threads();
  atexit(last);
  atexit(first);
  exit(4);
}
