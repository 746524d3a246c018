// SPDX-License-Identifier: Apache-2.0
// Threads that work until a second is over: under control that is some thousand looks at the clock,
// not a million.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { kRoundsEnough = 5000 };

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void* work(void* unused) {
  const long long end = now() + 1000000000LL;
  int rounds = 0;
  for (long long before = 0, time = now(); time < end; before = time, time = now()) {
    assert(time > before);
    ++rounds;
  }
  assert(rounds < kRoundsEnough);
  return unused;
}

int main(void) {
  const long long start = now();
  assert(now() - start < 100000);  // few looks take next to no time
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, &work, NULL);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  puts("done");
  return 0;
}
