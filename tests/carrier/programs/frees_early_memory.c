// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include "threads.h"

static char area[8 * 4096] __attribute__((aligned(4096)));

// Runs before the point to which executions go back.
static void fill(void) {
  memset(area, 3, sizeof area);
}
__attribute__((section(".preinit_array"), used)) static void (*const early)(void) = fill;

int main(void) {
  printf("%d %d\n", area[0], area[4096]);
  area[4096] = 5;
  madvise(area, sizeof area, MADV_DONTNEED);
  run_threads();
  return 0;
}
