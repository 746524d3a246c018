// SPDX-License-Identifier: Apache-2.0
//
// Peterson's entry protocol with relaxed atomics. A thread raises its flag, gives the turn away,
// and enters if the other's flag is down or the turn is its own again. Both stores may still be in
// the processor's store buffer when the other's flag is read: each thread finds it down and both
// enter. Sequentially consistent hardware would never show it.
// Origin: Peterson's algorithm (1981), reproduced under TSO and PSO by CLAP (PLDI 2013).

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
  atomic_store_explicit(&flags[me], 1, memory_order_relaxed);  // heddle: culprit raise
  atomic_store_explicit(&turn, 1 - me, memory_order_relaxed);
  if (atomic_load_explicit(&flags[1 - me], memory_order_relaxed) == 0) {  // heddle: culprit look
    return true;
  }
  return atomic_load_explicit(&turn, memory_order_relaxed) == me;
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
