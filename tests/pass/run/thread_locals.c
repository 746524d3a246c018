// SPDX-License-Identifier: Apache-2.0
// HOOKS: __heddle_load4 __heddle_store4
//
// Thread-local storage: of one file, of every model, and one whose address another thread gets.
#include <pthread.h>
#include <stdio.h>

static _Thread_local int hidden = 3;
_Thread_local int visible = 4;
static _Thread_local __attribute__((tls_model("initial-exec"))) int direct[4] = {1, 2, 3, 4};
static int* published;

static void* worker(void* sum) {
  hidden += 10;
  visible += 20;
  direct[1] += 30;
  *published += 40;  // the main thread's
  *(int*)sum = hidden + visible + direct[1];
  return 0;
}

int main(void) {
  int sum = 0;
  pthread_t thread;
  visible = 5;
  published = &visible;
  pthread_create(&thread, 0, worker, &sum);
  pthread_join(thread, 0);
  printf("%d %d %d %d %d\n", sum, hidden, visible, direct[0], direct[1]);
  return 0;
}
