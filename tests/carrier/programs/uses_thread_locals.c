// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

static __thread int mine = 5;
static pthread_key_t key;
static void destroy(void* value) {
  printf("destroyed %ld\n", (long)value);
}
static void* work(void* number) {
  mine += (int)(long)number;
  pthread_setspecific(key, number);
  printf("mine %d\n", mine);
  return NULL;
}
int main(void) {
  printf("key %d\n", pthread_key_create(&key, destroy));
  run_threads();
  pthread_t thread;
  pthread_create(&thread, NULL, work, (void*)3);
  work((void*)4);
  pthread_join(thread, NULL);
  return 0;
}
