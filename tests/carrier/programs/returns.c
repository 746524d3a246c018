// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

int main(void) {
  run_threads();
  return 3;
}
