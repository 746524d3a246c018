// SPDX-License-Identifier: Apache-2.0
//
// The small program whose executions are counted: three threads, a mutex, a few turns each.
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long total;

static void* work(void* unused) {
  for (int i = 0; i < 3; ++i) {
    pthread_mutex_lock(&mutex);
    ++total;
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, work, NULL);
  work(NULL);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  return total == 9 ? 0 : 1;
}
