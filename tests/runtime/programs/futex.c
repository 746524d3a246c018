// SPDX-License-Identifier: Apache-2.0
// futex(2) through syscall(): wait, wake, bit sets, requeue, wake-op, time-outs, errors.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>

#include "../check.h"

static atomic_int word, second, woken, waiting;

static long futex(atomic_int* a, int operation, int value, const void* timeout, atomic_int* b,
                  int value3) {
  return syscall(SYS_futex, a, operation | FUTEX_PRIVATE_FLAG, value, timeout, b, value3);
}

static void* wait_for_word(void* unused) {
  ++waiting;
  CHECK(futex(&word, FUTEX_WAIT, 0, NULL, NULL, 0) == 0);
  ++woken;
  return unused;
}

static void* wait_for_bit(void* bit) {
  ++waiting;
  CHECK(futex(&word, FUTEX_WAIT_BITSET, 0, NULL, NULL, (int)(long)bit) == 0);
  ++woken;
  return NULL;
}

// The threads count themselves just before they wait; when all others are blocked the main thread
// alone goes on yielding, so a few rounds are enough for the last to get there.
static void start(pthread_t* threads, int count, void* (*routine)(void*), long first) {
  word = second = woken = waiting = 0;
  for (long i = 0; i < count; ++i) {
    pthread_create(&threads[i], NULL, routine, (void*)(first << i));
  }
  while (waiting != count) sched_yield();
}

// Wakes until `count` have been woken: a thread may be counted and not yet asleep.
static void wake(atomic_int* at, int operation, int count, int bits) {
  while (count > 0) {
    const long n = futex(at, operation, count, NULL, NULL, bits);
    CHECK(n >= 0 && n <= count);
    count -= (int)n;
    sched_yield();
  }
}

static void join(pthread_t* threads, int count) {
  for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  CHECK(woken == count);
}

int main(void) {
  pthread_t threads[3];

  start(threads, 3, wait_for_word, 1);
  wake(&word, FUTEX_WAKE, 1, 0);
  wake(&word, FUTEX_WAKE, 2, 0);
  join(threads, 3);

  start(threads, 3, wait_for_bit, 1);
  wake(&word, FUTEX_WAKE_BITSET, 1, 2);
  pthread_join(threads[1], NULL);
  CHECK(woken == 1);
  wake(&word, FUTEX_WAKE_BITSET, 2, 5);
  pthread_join(threads[0], NULL);
  pthread_join(threads[2], NULL);

  start(threads, 3, wait_for_word, 1);
  int requeued = 0;
  while (requeued != 3) {
    const long n = futex(&word, FUTEX_CMP_REQUEUE, 0, (void*)3L, &second, 0);
    CHECK(n >= 0);
    requeued += (int)n;
    sched_yield();
  }
  CHECK(futex(&word, FUTEX_WAKE, 3, NULL, NULL, 0) == 0);
  CHECK(futex(&second, FUTEX_WAKE, 3, NULL, NULL, 0) == 3);
  join(threads, 3);
  CHECK(futex(&word, FUTEX_CMP_REQUEUE, 0, (void*)1L, &second, 1) == -1 && errno == EAGAIN);

  start(threads, 1, wait_for_word, 1);
  int total = 0;
  while (total == 0) {
    total += (int)futex(&word, FUTEX_WAKE_OP, 1, (void*)1L, &second,
                        FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_GE, 0));
    sched_yield();
  }
  CHECK(total == 1 && second >= 1);
  join(threads, 1);

  word = 1;
  CHECK(futex(&word, FUTEX_WAIT, 0, NULL, NULL, 0) == -1 && errno == EAGAIN);
  struct timespec hour = {3600, 0}, before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  CHECK(futex(&word, FUTEX_WAIT, 1, &hour, NULL, 0) == -1 && errno == ETIMEDOUT);
  clock_gettime(CLOCK_MONOTONIC, &after);
  CHECK(after.tv_sec - before.tv_sec >= 3600);
  after.tv_sec += 100;
  CHECK(futex(&word, FUTEX_WAIT_BITSET, 1, &after, NULL, -1) == -1 && errno == ETIMEDOUT);
  clock_gettime(CLOCK_MONOTONIC, &before);
  CHECK(before.tv_sec >= after.tv_sec);
  puts("done");
  return 0;
}
