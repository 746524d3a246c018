// SPDX-License-Identifier: Apache-2.0
// timerfd in virtual time: hours pass at once, in order.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <time.h>

#include "../check.h"

static int timer;

static void* tick(void* unused) {
  uint64_t count = 0, total = 0;
  while (total < 5) {
    CHECK(read(timer, &count, sizeof count) == sizeof count && count >= 1);
    total += count;
  }
  return unused;
}

static time_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec;
}

int main(void) {
  timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  CHECK(timer >= 0);
  struct itimerspec hourly = {{3600, 0}, {3600, 0}}, left;
  const time_t start = now();
  CHECK(timerfd_settime(timer, 0, &hourly, NULL) == 0);
  CHECK(timerfd_gettime(timer, &left) == 0 && left.it_value.tv_sec >= 3590);
  pthread_t thread;
  pthread_create(&thread, NULL, tick, NULL);
  pthread_join(thread, NULL);
  CHECK(now() - start >= 5 * 3600);

  struct itimerspec once = {{0, 0}, {100, 0}}, never = {{0, 0}, {0, 0}};
  CHECK(timerfd_settime(timer, 0, &once, &left) == 0 && left.it_interval.tv_sec == 3600);
  struct pollfd polled = {timer, POLLIN, 0};
  CHECK(poll(&polled, 1, 50000) == 0);
  CHECK(poll(&polled, 1, 100000) == 1);
  CHECK(timerfd_settime(timer, 0, &never, NULL) == 0);
  CHECK(poll(&polled, 1, 10) == 0);
  CHECK(timerfd_settime(timer, 0, &once, NULL) == 0);
  sleep(200);
  uint64_t count = 0;
  CHECK(read(timer, &count, sizeof count) == sizeof count && count == 1);
  CHECK(timerfd_settime(0, 0, &once, NULL) == -1 && errno == EINVAL);
  CHECK(close(timer) == 0);
  puts("done");
  return 0;
}
