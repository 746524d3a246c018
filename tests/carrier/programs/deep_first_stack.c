// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

static int descend(int depth) {
  volatile char here[4096];
  int zero = 0;
  for (int i = 0; i < 4096; i += 64) zero += here[i] != 0 && depth < 0;
  here[0] = (char)depth;
  return depth == 0 ? zero : descend(depth - 1) + here[0] - (char)depth;
}
int main(void) {
  run_threads();
  printf("%d\n", descend(1000));
  return 0;
}
