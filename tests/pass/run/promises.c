// SPDX-License-Identifier: Apache-2.0
// A function that only reads must be called again each time: what it reads changes inside hooks.
// HOOKS: __heddle_load4
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

int ready;
int data;

__attribute__((noinline, pure)) static int is_ready(const int* flag) {
  return __atomic_load_n(flag, __ATOMIC_ACQUIRE) != 0;
}

__attribute__((noinline)) static int read_only(const int* place) {
  return *place * 2;
}

static void* produce(void* unused) {
  data = 21;
  __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, produce, 0);
  while (!is_ready(&ready)) sched_yield();
  printf("%d\n", read_only(&data));
  pthread_join(thread, 0);
  return 0;
}
