// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

#include <locale.h>
#include <sys/mman.h>

int main(void) {
  char* const memory =
      mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(memory, 7, 1 << 20);
  mprotect(memory, 4096, PROT_READ);
  munmap(memory + 8192, 4096);
  char* const before = sbrk(8192);
  memset(before, 9, 8192);
  char* const grown = mremap(memory + 65536, 65536, 1 << 20, MREMAP_MAYMOVE);
  printf("%d %d %d\n", memory[0], before[0], grown[0]);
  setlocale(LC_ALL, "C.UTF-8");
  run_threads();
  return 0;
}
