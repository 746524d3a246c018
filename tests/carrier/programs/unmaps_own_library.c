// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

#include <sys/mman.h>

int main(void) {
  run_threads();
  char* const page = (char*)((unsigned long)&mutex & ~4095ul);
  mprotect(page, 4096, PROT_READ);
  mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
  return 0;
}
