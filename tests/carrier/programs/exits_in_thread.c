// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

static void* leave(void* unused) {
  printf("left");
  exit(5);
}
int main(void) {
  run_threads();
  pthread_t thread;
  pthread_create(&thread, NULL, leave, NULL);
  pthread_join(thread, NULL);
  return 0;
}
