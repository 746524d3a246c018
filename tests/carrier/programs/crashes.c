// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

int* volatile nowhere;
int main(void) {
  run_threads();
  fflush(stdout);
  return *nowhere;
}
