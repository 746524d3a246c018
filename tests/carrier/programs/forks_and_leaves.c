// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

int main(void) {
  run_threads();
  fflush(stdout);
  if (fork() == 0) _exit(0);
  return 0;
}
