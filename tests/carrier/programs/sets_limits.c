// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

#include <sys/resource.h>

int main(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_STACK, &limit);
  limit.rlim_cur -= 4096;
  setrlimit(RLIMIT_STACK, &limit);
  printf("%d\n", (int)(limit.rlim_cur % 8192));
  run_threads();
  return 0;
}
