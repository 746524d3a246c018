// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

int main(void) {
  char line[100];
  fgets(line, sizeof line, stdin);
  printf("%s", line);
  run_threads();
  return 0;
}
