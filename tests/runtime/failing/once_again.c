// SPDX-License-Identifier: Apache-2.0
// EXPECT: deadlock
// A routine that is run once waits for itself.
#include <pthread.h>
#include <stddef.h>

static pthread_once_t control = PTHREAD_ONCE_INIT;

static void routine(void) {
  pthread_once(&control, routine);
}

int main(void) {
  pthread_once(&control, routine);
  return 0;
}
