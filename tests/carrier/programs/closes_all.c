// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

int main(void) {
  run_threads();
  fflush(stdout);
  close_range(3, ~0u, 0);
  return 0;
}
