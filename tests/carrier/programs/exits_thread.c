// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

static void* leave(void* result) {
  pthread_exit(result);
}
int main(void) {
  run_threads();
  pthread_t thread;
  void* result;
  pthread_create(&thread, NULL, leave, (void*)7);
  pthread_join(thread, &result);
  printf("%ld\n", (long)result);
  pthread_create(&thread, NULL, leave, NULL);
  pthread_exit(NULL);
}
