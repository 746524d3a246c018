// SPDX-License-Identifier: Apache-2.0
// A thread that takes signals by waiting for them; pause; sigsuspend; ppoll with a mask.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include "../check.h"

static sigset_t set;
static volatile int handled;
static int taken;

static void count(int number) {
  (void)number;
  ++handled;
}

static void* take(void* unused) {
  for (int i = 0; i < 2; ++i) {
    int number = 0;
    CHECK(sigwait(&set, &number) == 0 && (number == SIGUSR1 || number == SIGTERM));
    ++taken;
  }
  return unused;
}

static void* pauses(void* unused) {
  CHECK(pause() == -1 && errno == EINTR);
  CHECK(handled == 1);
  return unused;
}

static void* suspends(void* mask) {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &blocked, NULL);
  CHECK(sigsuspend(mask) == -1 && errno == EINTR && handled == 2);
  CHECK(ppoll(NULL, 0, NULL, mask) == -1 && errno == EINTR && handled == 3);
  return NULL;
}

static void settle(void) {
  for (int i = 0; i < 200; ++i) sched_yield();
}

int main(void) {
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGTERM);
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &set, &before);
  pthread_t thread;
  pthread_create(&thread, NULL, take, NULL);
  CHECK(kill(getpid(), SIGTERM) == 0);
  CHECK(pthread_kill(thread, SIGUSR1) == 0);
  pthread_join(thread, NULL);
  CHECK(taken == 2);
  struct timespec second = {1, 0};
  CHECK(sigtimedwait(&set, NULL, &second) == -1 && errno == EAGAIN);

  struct sigaction action = {.sa_handler = count};
  sigaction(SIGUSR2, &action, NULL);
  pthread_create(&thread, NULL, pauses, NULL);
  settle();
  pthread_kill(thread, SIGUSR2);
  pthread_join(thread, NULL);

  pthread_create(&thread, NULL, suspends, &before);
  settle();
  pthread_kill(thread, SIGUSR2);
  while (handled != 2) sched_yield();
  settle();
  pthread_kill(thread, SIGUSR2);
  pthread_join(thread, NULL);
  CHECK(handled == 3);
  puts("done");
  return 0;
}
