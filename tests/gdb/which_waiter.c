// SPDX-License-Identifier: Apache-2.0
//
// Fails when the signal wakes the thread that came second.
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t go = PTHREAD_COND_INITIALIZER;
static int waiting, woken;
static void* wait_for_it(void* name) {
  pthread_mutex_lock(&lock);
  ++waiting;
  pthread_cond_wait(&go, &lock);
  if (woken == 0) woken = *(int*)name;
  pthread_mutex_unlock(&lock);
  return 0;
}
int main(void) {
  pthread_t threads[2];
  static int names[] = {1, 2};
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], 0, wait_for_it, &names[i]);
  pthread_mutex_lock(&lock);
  if (waiting == 2) {
    pthread_cond_signal(&go);
    while (woken == 0) {
      pthread_mutex_unlock(&lock);
      pthread_mutex_lock(&lock);
    }
    assert(woken == 1);
    pthread_cond_signal(&go);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
    return 0;
  }
  return 0;
}
