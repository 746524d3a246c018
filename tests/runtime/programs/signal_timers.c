// SPDX-License-Identifier: Apache-2.0
// Timers that send signals, in virtual time: hours pass at once; they interrupt sleeps, end waits,
// and go off in threads that only compute.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#include "../check.h"

static sem_t semaphore;
static atomic_int ticks, last_value;

static void tick(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)context;
  last_value = info->si_value.sival_int;
  ++ticks;
}

static void post(int number) {
  (void)number;
  sem_post(&semaphore);
}

static void handle(int number, void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler};
  CHECK(sigaction(number, &action, NULL) == 0);
}

static time_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec;
}

static void* wait_for_post(void* unused) {
  while (sem_wait(&semaphore) != 0) CHECK(errno == EINTR);
  return unused;
}

static void* await(void* set) {
  int number = 0;
  CHECK(sigwait(set, &number) == 0 && number == SIGRTMIN + 1);
  return NULL;
}

int main(void) {
  CHECK(sem_init(&semaphore, 0, 0) == 0);
  // A sleep is interrupted when its time has come, not when it is over.
  handle(SIGALRM, post);
  const time_t start = now();
  CHECK(alarm(3600) == 0);
  CHECK(sleep(7200) >= 3599 && sem_trywait(&semaphore) == 0);
  CHECK(now() - start >= 3600 && now() - start < 7000);

  // Nobody else can end these waits.
  pthread_t thread;
  pthread_create(&thread, NULL, wait_for_post, NULL);
  CHECK(alarm(1000) == 0 && alarm(500) >= 999);
  pthread_join(thread, NULL);
  CHECK(alarm(0) == 0);

  // Periodic, with a value; then deleted.
  struct sigaction action = {.sa_sigaction = tick, .sa_flags = SA_SIGINFO};
  CHECK(sigaction(SIGRTMIN, &action, NULL) == 0);
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
  event.sigev_value.sival_int = 42;
  timer_t timer;
  CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  const struct itimerspec minutely = {{60, 0}, {60, 0}}, never = {{0, 0}, {0, 0}};
  struct itimerspec left;
  CHECK(timer_settime(timer, 0, &minutely, NULL) == 0);
  CHECK(timer_gettime(timer, &left) == 0 && left.it_value.tv_sec >= 59);
  while (ticks < 3) sleep(20);
  CHECK(last_value == 42);
  CHECK(timer_settime(timer, 0, &never, &left) == 0 && left.it_interval.tv_sec == 60);
  CHECK(timer_getoverrun(timer) >= 0 && timer_delete(timer) == 0);
  CHECK(timer_delete(timer) == -1 && errno == EINVAL);
  const int before = ticks;
  sleep(1000);
  CHECK(ticks == before);

  // Blocked, and awaited by another thread.
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN + 1);
  CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
  event.sigev_signo = SIGRTMIN + 1;
  CHECK(timer_create(CLOCK_REALTIME, &event, &timer) == 0);
  const struct itimerspec once = {{0, 0}, {10, 0}};
  CHECK(timer_settime(timer, 0, &once, NULL) == 0);
  pthread_create(&thread, NULL, await, &set);
  pthread_join(thread, NULL);

  // A watchdog that the program has no handler for does not go off while the program can go on.
  handle(SIGALRM, SIG_DFL);
  alarm(1);
  for (int i = 0; i < 100; ++i) sched_yield();
  struct itimerval shown;
  CHECK(getitimer(ITIMER_REAL, &shown) == 0 && shown.it_value.tv_sec + shown.it_value.tv_usec > 0);
  CHECK(alarm(0) == 1);
  return 0;
}
