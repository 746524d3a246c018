// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

#include <signal.h>

int main(void) {
  run_threads();
  fflush(stdout);
  kill(getpid(), SIGKILL);
  for (;;) pause();
}
