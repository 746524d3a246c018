// SPDX-License-Identifier: Apache-2.0
// EXPECT: deadlock
// Two spin locks, taken in both orders.
#include <pthread.h>
#include <stddef.h>

static pthread_spinlock_t first, second;

static void* take(void* reversed) {
  pthread_spin_lock(reversed != NULL ? &second : &first);
  pthread_spin_lock(reversed != NULL ? &first : &second);
  pthread_spin_unlock(&first);
  pthread_spin_unlock(&second);
  return NULL;
}

int main(void) {
  pthread_spin_init(&first, PTHREAD_PROCESS_PRIVATE);
  pthread_spin_init(&second, PTHREAD_PROCESS_PRIVATE);
  pthread_t thread;
  pthread_create(&thread, NULL, take, &thread);
  take(NULL);
  pthread_join(thread, NULL);
  return 0;
}
