// SPDX-License-Identifier: Apache-2.0
//
// Dekker's entry protocol with relaxed atomics. Each thread announces that it wants to enter, then
// looks whether the other does; whoever sees the other's announcement stays outside. The
// announcement may still sit in the processor's store buffer while the look is taken: both threads
// see nothing and both enter. Sequentially consistent hardware would never show it.
// Origin: Dekker's algorithm (Dijkstra 1965), reproduced under TSO and PSO by CLAP (PLDI 2013).

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
  atomic_store_explicit(&wants[me], 1, memory_order_relaxed);  // heddle: culprit announce
  const int other =
      atomic_load_explicit(&wants[1 - me], memory_order_relaxed);  // heddle: culprit look
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
