// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

int main(void) {
  usleep(1 + __builtin_ia32_rdtsc() % 1000000);
  run_threads();
  return 0;
}
