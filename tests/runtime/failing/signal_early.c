// SPDX-License-Identifier: Apache-2.0
// EXPECT: lost-wakeup
// A signal that comes before the wait.
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void* signals(void* unused) {
  pthread_cond_signal(&condition);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, signals, NULL);
  pthread_mutex_lock(&mutex);
  pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, NULL);
  return 0;
}
