// SPDX-License-Identifier: Apache-2.0
// EXPECT: lost-wakeup
// Two posts that may be one: the count is lost between look and post.
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static sem_t semaphore;

static void* post_if_none(void* unused) {
  int value = 0;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  sem_getvalue(&semaphore, &value);
  if (value == 0) sem_post(&semaphore);
  return unused;
}

int main(void) {
  sem_init(&semaphore, 0, 0);
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, post_if_none, NULL);
  sem_wait(&semaphore);
  sem_wait(&semaphore);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  return 0;
}
