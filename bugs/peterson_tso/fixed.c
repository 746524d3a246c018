// SPDX-License-Identifier: Apache-2.0
//
// Fixed: flag, turn and look are sequentially consistent, so a thread's own stores are visible
// before it looks at the other's flag.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_int flags[2];
static atomic_int turn;
static atomic_int inside;

static void enter(void) {
  int others = atomic_fetch_add_explicit(&inside, 1, memory_order_relaxed);
  assert(others == 0);
  atomic_fetch_sub_explicit(&inside, 1, memory_order_relaxed);
}

static bool may_enter(int me) {
  atomic_store(&flags[me], 1);
  atomic_store(&turn, 1 - me);
  return atomic_load(&flags[1 - me]) == 0 || atomic_load(&turn) == me;
}

static void* visitor(void* arg) {
  const int me = *(const int*)arg;
  if (may_enter(me)) enter();
  atomic_store_explicit(&flags[me], 0, memory_order_release);
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
