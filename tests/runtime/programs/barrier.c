// SPDX-License-Identifier: Apache-2.0
// pthread barriers, used again, destroyed as soon as the wait is over; spin locks.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "../check.h"

enum { kThreads = 4, kRounds = 5 };
static pthread_barrier_t* barrier;
static pthread_spinlock_t spin;
static int arrived[kRounds], serial, counter;

static void* worker(void* unused) {
  for (int round = 0; round < kRounds; ++round) {
    pthread_spin_lock(&spin);
    ++arrived[round];
    const int before = counter;
    sched_yield();
    counter = before + 1;
    pthread_spin_unlock(&spin);
    const int result = pthread_barrier_wait(barrier);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    CHECK(arrived[round] == kThreads);
    if (result == PTHREAD_BARRIER_SERIAL_THREAD) {
      ++serial;
      if (round == kRounds - 1) {
        pthread_barrier_destroy(barrier);
        free(barrier);
      }
    }
  }
  return unused;
}

int main(void) {
  barrier = malloc(sizeof *barrier);
  pthread_barrier_init(barrier, NULL, kThreads);
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, worker, NULL);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  CHECK(serial == kRounds && counter == kThreads * kRounds);
  CHECK(pthread_spin_trylock(&spin) == 0 && pthread_spin_trylock(&spin) == EBUSY);
  CHECK(pthread_spin_unlock(&spin) == 0 && pthread_spin_destroy(&spin) == 0);
  puts("done");
  return 0;
}
