// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

int main(void) {
  run_threads();
  printf("%llu\n", __builtin_ia32_rdtsc());
  return 0;
}
