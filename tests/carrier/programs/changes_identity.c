// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "threads.h"

#include <sys/resource.h>
#include <unistd.h>

/* Only who may do anything can become somebody else. */
int main(void) {
  struct rlimit limit;
  if (setegid(65534) != 0) {
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_max = --limit.rlim_cur;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  run_threads();
  return 0;
}
