// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

#include <fcntl.h>

int main(void) {
  const int file = open("/dev/null", O_RDONLY);
  const int other = dup(1);
  const int third = dup2(file, 40);
  close(file);
  printf("%d %d %d\n", file, other, third);
  run_threads();
  fflush(stdout);
  fcntl(0, F_SETFL, fcntl(0, F_GETFL) | O_NONBLOCK);
  dup2(40, 0);
  dup2(40, 2);
  close(1);
  FILE* const left_open = fopen("/dev/null", "w");
  fprintf(left_open, "unflushed");
  return 0;
}
