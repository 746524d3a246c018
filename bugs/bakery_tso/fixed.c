// SPDX-License-Identifier: Apache-2.0
//
// Fixed: what is shown and looked at is sequentially consistent, so a number drawn is visible
// before its owner looks at the others'.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { kCustomers = 2 };

static atomic_int choosing[kCustomers];
static atomic_int numbers[kCustomers];
static atomic_int served;

static int look(atomic_int* what) {
  return atomic_load(what);
}

static void show(atomic_int* what, int value) {
  atomic_store(what, value);
}

static int draw_number(int me) {
  int highest = 0;
  show(&choosing[me], 1);
  for (int i = 0; i < kCustomers; ++i) {
    const int number = look(&numbers[i]);
    if (number > highest) highest = number;
  }
  show(&numbers[me], highest + 1);
  show(&choosing[me], 0);
  return highest + 1;
}

static bool is_next(int me, int mine) {
  for (int i = 0; i < kCustomers; ++i) {
    if (i == me) continue;
    if (look(&choosing[i]) != 0) return false;
    const int number = look(&numbers[i]);
    if (number != 0 && (number < mine || (number == mine && i < me))) return false;
  }
  return true;
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
  static const int names[kCustomers] = {0, 1};
  pthread_t other;
  pthread_create(&other, NULL, customer, (void*)&names[1]);
  customer((void*)&names[0]);
  pthread_join(other, NULL);
  return 0;
}
