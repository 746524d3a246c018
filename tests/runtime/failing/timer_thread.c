// SPDX-License-Identifier: Apache-2.0
// EXPECT: unsupported
#include <signal.h>
#include <time.h>

static void notify(union sigval value) {
  (void)value;
}

int main(void) {
  struct sigevent event = {.sigev_notify = SIGEV_THREAD};
  event.sigev_notify_function = notify;
  timer_t timer;
  return timer_create(CLOCK_REALTIME, &event, &timer) == 0 ? 0 : 1;
}
