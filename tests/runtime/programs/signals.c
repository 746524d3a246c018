// SPDX-License-Identifier: Apache-2.0
// Signals to one thread, masks of each thread, waits that signals interrupt.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "../check.h"

static sem_t never, started;
static pthread_t handled_by;
static volatile int handled, posts;
static sem_t from_handler;

static void note(int number) {
  CHECK(number == SIGUSR1);
  handled_by = pthread_self();
  ++handled;
}

static void post(int number) {
  (void)number;
  ++posts;
  sem_post(&from_handler);
}

static void* interrupted(void* unused) {
  sem_post(&started);
  CHECK(sem_wait(&never) == -1 && errno == EINTR);
  CHECK(handled == 1 && pthread_equal(handled_by, pthread_self()));
  return unused;
}

static void* yields(void* unused) {
  sem_post(&started);
  while (handled == 1) sched_yield();
  CHECK(pthread_equal(handled_by, pthread_self()));
  return unused;
}

static void* blocks(void* unused) {
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  CHECK(pthread_sigmask(SIG_BLOCK, &set, &before) == 0 && !sigismember(&before, SIGUSR1));
  sem_post(&started);
  for (int i = 0; i < 5; ++i) sched_yield();
  sem_wait(&never);
  CHECK(handled == 2);
  CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
  CHECK(handled == 3 && pthread_equal(handled_by, pthread_self()));
  return unused;
}

static void set(int number, void (*handler)(int), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  CHECK(sigaction(number, &action, NULL) == 0);
}

static pthread_t start(void* (*routine)(void*)) {
  pthread_t thread;
  pthread_create(&thread, NULL, routine, NULL);
  sem_wait(&started);
  return thread;
}

int main(void) {
  sem_init(&never, 0, 0);
  sem_init(&started, 0, 0);
  sem_init(&from_handler, 0, 0);
  set(SIGUSR1, note, 0);

  pthread_t thread = start(interrupted);
  // Until the thread waits, the signal may come too early to interrupt it: once is enough then.
  for (int i = 0; i < 200; ++i) sched_yield();
  CHECK(pthread_kill(thread, 0) == 0);
  CHECK(pthread_kill(thread, SIGUSR1) == 0);
  pthread_join(thread, NULL);

  thread = start(yields);
  pthread_kill(thread, SIGUSR1);
  pthread_join(thread, NULL);
  CHECK(handled == 2);

  thread = start(blocks);
  sigset_t mask;
  CHECK(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0 && !sigismember(&mask, SIGUSR1));
  pthread_kill(thread, SIGUSR1);
  sem_post(&never);
  pthread_join(thread, NULL);

  // A handler may post; SA_RESTART lets the wait go on.
  signal(SIGUSR2, post);
  struct sigaction old;
  CHECK(sigaction(SIGUSR2, NULL, &old) == 0 && old.sa_handler == post);
  raise(SIGUSR2);
  CHECK(posts == 1);
  CHECK(sem_wait(&from_handler) == 0);
  CHECK(syscall(SYS_tgkill, getpid(), gettid(), SIGUSR2) == 0 && posts == 2);
  CHECK(tgkill(getpid(), gettid() + 1000, SIGUSR2) == -1 && errno == ESRCH);
  CHECK(kill(getpid(), SIGUSR2) == 0 && posts == 3);
  puts("done");
  return 0;
}
