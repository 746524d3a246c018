// SPDX-License-Identifier: Apache-2.0
// The process id is the same in every execution (a replay would notice), and wherever the program
// hands it back it still means this process; also to a child, which is a process of its own.
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../check.h"

static volatile sig_atomic_t told;
static volatile pid_t sender;

static void on_signal(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)context;
  sender = info->si_pid;
  told = told + 1;
}

int main(void) {
  const pid_t self = getpid();
  unsigned seed = (unsigned)self;
  volatile int drawn = rand_r(&seed);  // what a replay would not see again
  (void)drawn;
  CHECK(self > 0 && self == getpid() && syscall(SYS_getpid) == self && gettid() == self);
  CHECK(getppid() != self && getppid() > 0);

  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  CHECK(kill(self, 0) == 0);
  CHECK(kill(self, SIGUSR1) == 0 && told == 1 && sender == self);
  CHECK(kill(self + 1000000, 0) == -1 && errno == ESRCH);
  CHECK(getpgid(self) == getpgid(0) && getpgid(self) == getpgrp() && getsid(self) == getsid(0));
  cpu_set_t processors;
  CHECK(sched_getaffinity(self, sizeof processors, &processors) == 0);

  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    if (getpid() == self || getppid() != self) _exit(2);
    _exit(kill(self, SIGUSR1) == 0 ? 0 : 1);
  }
  int status;
  CHECK(child != self && waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(told == 2 && sender == child);
  return 0;
}
