// SPDX-License-Identifier: Apache-2.0
// EXPECT: unsupported
// A barrier that a child process comes to, which nobody here can see.
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
  pthread_barrier_t* barrier =
      mmap(NULL, sizeof *barrier, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(barrier, &attributes, 2);
  if (fork() == 0) {
    alarm(10);
    pthread_barrier_wait(barrier);
    _exit(0);
  }
  pthread_barrier_wait(barrier);
  wait(NULL);
  return 0;
}
