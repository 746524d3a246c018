// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

static int deeper(volatile char* above) {
  volatile char here[4096];
  here[0] = above[0];
  return deeper(here) + here[0];
}
static void* overflow(void* unused) {
  volatile char first = 1;
  return (void*)(long)deeper(&first);
}
int main(void) {
  run_threads();
  fflush(stdout);
  pthread_t thread;
  pthread_create(&thread, NULL, overflow, NULL);
  pthread_join(thread, NULL);
  return 0;
}
