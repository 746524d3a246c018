// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static void* backwards(void* unused) {
  pthread_mutex_lock(&second);
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  pthread_mutex_unlock(&second);
  return NULL;
}
int main(void) {
  run_threads();
  fflush(stdout);
  pthread_t thread;
  pthread_create(&thread, NULL, backwards, NULL);
  pthread_mutex_lock(&mutex);
  pthread_mutex_lock(&second);
  pthread_mutex_unlock(&second);
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, NULL);
  return 0;
}
