// SPDX-License-Identifier: Apache-2.0
// Whoever goes on has its own signal mask, also to the kernel: asked behind everybody's back.
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "../check.h"

static int blocked_by_kernel(int number) {
  uint64_t mask = 0;
  register long bytes __asm__("r10") = sizeof mask;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(SYS_rt_sigprocmask), "D"(SIG_BLOCK), "S"(0), "d"(&mask), "r"(bytes)
                   : "rcx", "r11", "memory");
  CHECK(result == 0);
  return (mask >> (number - 1) & 1) != 0;
}

static void* blocks(void* number) {
  const int own = (int)(intptr_t)number;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, own);
  CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
  for (int i = 0; i < 20; ++i) {
    sched_yield();
    CHECK(blocked_by_kernel(own));
    CHECK(!blocked_by_kernel(own == SIGUSR1 ? SIGUSR2 : SIGUSR1));
  }
  return NULL;
}

static void* begins_without(void* unused) {
  sched_yield();
  CHECK(!blocked_by_kernel(SIGUSR1) && !blocked_by_kernel(SIGUSR2));
  return unused;
}

int main(void) {
  pthread_t threads[3];
  CHECK(pthread_create(&threads[0], NULL, blocks, (void*)(intptr_t)SIGUSR1) == 0);
  CHECK(pthread_create(&threads[1], NULL, blocks, (void*)(intptr_t)SIGUSR2) == 0);
  CHECK(pthread_create(&threads[2], NULL, begins_without, NULL) == 0);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  return 0;
}
