// SPDX-License-Identifier: Apache-2.0
// What a program can see of its surroundings is the same in every run of a schedule.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>

#include "../check.h"

static pid_t tids[3];

static void* look(void* slot) {
  *(pid_t*)slot = gettid();
  CHECK(gettid() == syscall(SYS_gettid));
  CHECK(sched_getcpu() == 0);
  return NULL;
}

int main(void) {
  CHECK(gettid() == getpid());
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, look, &tids[i]);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  CHECK(tids[0] != tids[1] && tids[1] != tids[2] && tids[0] != getpid());

  uint64_t random[3];
  unsigned char more[16];
  CHECK(getrandom(&random[0], 8, 0) == 8 && getentropy(&random[1], 8) == 0);
  CHECK(syscall(SYS_getrandom, &random[2], 8, 0) == 8);
  CHECK(random[0] != random[1] && random[1] != random[2]);
  CHECK(getrandom(more, sizeof more, 0) == sizeof more);
  struct timespec time, fine;
  struct timeval day;
  clock_gettime(CLOCK_REALTIME, &time);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &fine);
  gettimeofday(&day, NULL);
  struct tms ticks;
  struct rusage usage;
  const clock_t used = clock();
  times(&ticks);
  getrusage(RUSAGE_SELF, &usage);
  printf("%llx %llx %llx %x\n", (unsigned long long)random[0], (unsigned long long)random[1],
         (unsigned long long)random[2], more[9]);
  printf("%ld.%09ld %ld %ld %ld %ld\n", (long)time.tv_sec, time.tv_nsec, (long)fine.tv_sec,
         (long)day.tv_usec, (long)used, (long)usage.ru_utime.tv_usec);
  printf("%ld %p %p\n", (long)ticks.tms_utime, (void*)&time, malloc(10));
  return 0;
}
