// SPDX-License-Identifier: Apache-2.0
// OPTIONS: spurious_wakeups=3
// Nobody ever signals: these waits can end for no reason only.
#include <pthread.h>

#include "../check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void* wait_once(void* unused) {
  pthread_mutex_lock(&mutex);
  CHECK(pthread_cond_wait(&condition, &mutex) == 0);
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, wait_once, NULL);
  wait_once(NULL);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  puts("done");
  return 0;
}
