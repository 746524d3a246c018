// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

#include <signal.h>

int main(void) {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR2);
  sigprocmask(SIG_BLOCK, &blocked, NULL);
  run_threads();
  kill(getpid(), SIGUSR2);
  return 0;
}
