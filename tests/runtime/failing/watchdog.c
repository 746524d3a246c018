// SPDX-License-Identifier: Apache-2.0
// EXPECT: deadlock
// A deadlock is told as such, although a watchdog would end the program some time.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;

static void* other(void* unused) {
  pthread_mutex_lock(&second);
  pthread_mutex_lock(&first);
  pthread_mutex_unlock(&first);
  pthread_mutex_unlock(&second);
  return unused;
}

int main(void) {
  pthread_t thread;
  alarm(60);
  pthread_create(&thread, NULL, other, NULL);
  pthread_mutex_lock(&first);
  pthread_mutex_lock(&second);
  pthread_mutex_unlock(&second);
  pthread_mutex_unlock(&first);
  pthread_join(thread, NULL);
  return 0;
}
