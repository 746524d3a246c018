// SPDX-License-Identifier: Apache-2.0
// EXPECT: lost-wakeup
// A barrier for three that two come to.
#include <pthread.h>
#include <stddef.h>

static pthread_barrier_t barrier;

static void* come(void* unused) {
  pthread_barrier_wait(&barrier);
  return unused;
}

int main(void) {
  pthread_barrier_init(&barrier, NULL, 3);
  pthread_t thread;
  pthread_create(&thread, NULL, come, NULL);
  come(NULL);
  pthread_join(thread, NULL);
  return 0;
}
