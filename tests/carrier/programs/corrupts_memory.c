// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

int data[1000];
int main(void) {
  run_threads();
  fflush(stdout);
  char* block = malloc(64);
  memset(block - 4096, 0x5a, 16384);
  char* const high = (char*)((unsigned long)&data & ~4095ul);
  for (char* at = high;; ++at) *(volatile char*)at = 0x5a;
}
