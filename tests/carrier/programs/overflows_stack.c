// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

static int deeper(volatile char* above) {
  volatile char here[4096];
  here[0] = above[0];
  return deeper(here) + here[0];
}
int main(void) {
  run_threads();
  fflush(stdout);
  volatile char first = 1;
  return deeper(&first);
}
