// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

#include <sys/syscall.h>

int main(void) {
  run_threads();
  fflush(stdout);
  long result;
  asm volatile("syscall" : "=a"(result) : "a"(SYS_exit_group), "D"(8) : "rcx", "r11", "memory");
  return 0;
}
