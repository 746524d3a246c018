// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

#include <assert.h>

int main(void) {
  run_threads();
  fflush(stdout);
  assert(arrived == 5);
  return 0;
}
