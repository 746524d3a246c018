// SPDX-License-Identifier: Apache-2.0
//
// Fixed: announcement and look are sequentially consistent, so the announcement is visible before
// the look is taken, and at least one of the two threads sees the other.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int wants[2];
static atomic_int inside;

static void enter(void) {
  int others = atomic_fetch_add_explicit(&inside, 1, memory_order_relaxed);
  assert(others == 0);
  atomic_fetch_sub_explicit(&inside, 1, memory_order_relaxed);
}

static void* visitor(void* arg) {
  const int me = *(const int*)arg;
  atomic_store(&wants[me], 1);
  const int other = atomic_load(&wants[1 - me]);
  if (other == 0) enter();
  atomic_store_explicit(&wants[me], 0, memory_order_release);
  return NULL;
}

int main(void) {
  static const int names[2] = {0, 1};
  pthread_t other;
  pthread_create(&other, NULL, visitor, (void*)&names[1]);
  visitor((void*)&names[0]);
  pthread_join(other, NULL);
  return 0;
}
