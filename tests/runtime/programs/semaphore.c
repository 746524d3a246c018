// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <time.h>

#include "../check.h"

static sem_t items, room;
static int buffer[2], produced, consumed, sum;

static void* produce(void* unused) {
  for (int i = 1; i <= 10; ++i) {
    CHECK(sem_wait(&room) == 0);
    buffer[produced++ % 2] = i;
    CHECK(sem_post(&items) == 0);
  }
  return unused;
}

static void* consume(void* unused) {
  for (int i = 1; i <= 10; ++i) {
    CHECK(sem_wait(&items) == 0);
    CHECK(buffer[consumed % 2] == i);
    sum += buffer[consumed++ % 2];
    CHECK(sem_post(&room) == 0);
  }
  return unused;
}

int main(void) {
  CHECK(sem_init(&items, 0, 0) == 0 && sem_init(&room, 0, 2) == 0);
  pthread_t producer, consumer;
  pthread_create(&producer, NULL, produce, NULL);
  pthread_create(&consumer, NULL, consume, NULL);
  pthread_join(producer, NULL);
  pthread_join(consumer, NULL);
  CHECK(sum == 55);
  int value = -1;
  CHECK(sem_getvalue(&room, &value) == 0 && value == 2);
  CHECK(sem_trywait(&items) == -1 && errno == EAGAIN);
  struct timespec deadline, now;
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_sec += 1000;
  CHECK(sem_timedwait(&items, &deadline) == -1 && errno == ETIMEDOUT);
  clock_gettime(CLOCK_REALTIME, &now);
  CHECK(now.tv_sec >= deadline.tv_sec);
  CHECK(sem_clockwait(&items, CLOCK_MONOTONIC, &deadline) == -1 && errno == ETIMEDOUT);
  deadline.tv_nsec = 1000000000;
  CHECK(sem_timedwait(&items, &deadline) == -1 && errno == EINVAL);
  CHECK(sem_destroy(&items) == 0 && sem_destroy(&room) == 0);
  sem_t full;
  CHECK(sem_init(&full, 0, SEM_VALUE_MAX) == 0);
  CHECK(sem_post(&full) == -1 && errno == EOVERFLOW);
  puts("done");
  return 0;
}
