// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

#include <sys/mman.h>

static char area[8 * 4096] __attribute__((aligned(4096))) = {1, 2, 3};
int main(void) {
  printf("%d %d\n", area[0], area[4096]);
  area[4096] = 5;
  madvise(area, sizeof area, MADV_DONTNEED);
  run_threads();
  return 0;
}
