// SPDX-License-Identifier: Apache-2.0
//
// Fixed: what is shown and looked at is sequentially consistent, so a number drawn is visible
// before its owner looks at the other's.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_int choosing[2];
static atomic_int numbers[2];
static atomic_int served;

static int look(atomic_int* what) {
  return atomic_load(what);
}

static void show(atomic_int* what, int value) {
  atomic_store(what, value);
}

static int draw_number(int me) {
  show(&choosing[me], 1);
  const int mine = 1 + look(&numbers[1 - me]);
  show(&numbers[me], mine);
  show(&choosing[me], 0);
  return mine;
}

static bool is_next(int me, int mine) {
  const int other = 1 - me;
  if (look(&choosing[other]) != 0) return false;
  const int number = look(&numbers[other]);
  return number == 0 || mine < number || (mine == number && me < other);
}

static void serve(void) {
  int others = atomic_fetch_add_explicit(&served, 1, memory_order_relaxed);
  assert(others == 0);
  atomic_fetch_sub_explicit(&served, 1, memory_order_relaxed);
}

static void* customer(void* arg) {
  const int me = *(const int*)arg;
  const int number = draw_number(me);
  if (is_next(me, number)) serve();
  atomic_store_explicit(&numbers[me], 0, memory_order_release);
  return NULL;
}

int main(void) {
  static const int names[2] = {0, 1};
  pthread_t other;
  pthread_create(&other, NULL, customer, (void*)&names[1]);
  customer((void*)&names[0]);
  pthread_join(other, NULL);
  return 0;
}
