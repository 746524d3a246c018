// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

int main(void) {
  long sum = 0;
  for (int i = 0; i < 4; ++i) {
    char* const block = malloc(3 << 20);
    for (int k = 0; k < 3 << 20; k += 4096) sum += block[k]++;
    if (i % 2 == 0) free(block);
  }
  char* const cleared = calloc(1, 1 << 20);
  for (int k = 0; k < 1 << 20; k += 512) sum += cleared[k];
  printf("%ld\n", sum);
  run_threads();
  return 0;
}
