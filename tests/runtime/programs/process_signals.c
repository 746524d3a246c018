// SPDX-License-Identifier: Apache-2.0
// Signals that a program sends itself: handled by whoever does not block them, also by a thread
// that waits for a lock which only the handler will release; real-time signals are counted, others
// not.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>

#include "../check.h"

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static sem_t handled;
static atomic_int sum;
static pthread_t worker;

static void release(int number) {
  (void)number;
  CHECK(pthread_equal(pthread_self(), worker));
  sem_post(&handled);
}

static void add(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)context;
  CHECK(info->si_pid == getpid());
  sum += info->si_value.sival_int;
}

static void* work(void* signals) {
  CHECK(pthread_sigmask(SIG_UNBLOCK, signals, NULL) == 0);
  sem_post(&handled);
  pthread_mutex_lock(&held);
  pthread_mutex_unlock(&held);
  return NULL;
}

int main(void) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  sigaddset(&signals, SIGRTMIN);
  CHECK(pthread_sigmask(SIG_BLOCK, &signals, NULL) == 0);
  struct sigaction one = {.sa_handler = release};
  struct sigaction many = {.sa_sigaction = add, .sa_flags = SA_SIGINFO};
  CHECK(sigaction(SIGUSR1, &one, NULL) == 0 && sigaction(SIGRTMIN, &many, NULL) == 0);
  CHECK(sem_init(&handled, 0, 0) == 0);
  pthread_mutex_lock(&held);
  pthread_create(&worker, NULL, work, &signals);
  sem_wait(&handled);
  CHECK(kill(getpid(), SIGUSR1) == 0);
  sem_wait(&handled);  // the worker waits, or will wait, for what is held here
  pthread_mutex_unlock(&held);
  pthread_join(worker, NULL);

  for (int i = 1; i <= 4; ++i) {
    const union sigval value = {.sival_int = i};
    CHECK(sigqueue(getpid(), SIGRTMIN, value) == 0);
  }
  CHECK(sum == 0);
  CHECK(pthread_sigmask(SIG_UNBLOCK, &signals, NULL) == 0);
  CHECK(sum == 1 + 2 + 3 + 4);
  CHECK(kill(getpid(), 0) == 0 && kill(getpid(), 99) == -1);
  return 0;
}
