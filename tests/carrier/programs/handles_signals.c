// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

#include <signal.h>

static int seen;
static void handle(int number) {
  ++seen;
}
int main(void) {
  struct sigaction now;
  sigaction(SIGUSR1, NULL, &now);
  sigset_t blocked;
  sigprocmask(SIG_BLOCK, NULL, &blocked);
  printf("%d %d\n", now.sa_handler == SIG_DFL, sigismember(&blocked, SIGUSR2));
  signal(SIGUSR1, handle);
  signal(SIGSEGV, SIG_IGN);
  raise(SIGUSR1);
  sigaddset(&blocked, SIGUSR2);
  sigprocmask(SIG_SETMASK, &blocked, NULL);
  stack_t stack = {malloc(65536), 0, 65536};
  sigaltstack(&stack, NULL);
  printf("seen %d\n", seen);
  run_threads();
  return 0;
}
