// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

int main(void) {
  printf("%u\n", alarm(1000));
  run_threads();
  return 0;
}
