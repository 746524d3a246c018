// SPDX-License-Identifier: Apache-2.0
// Every atomic operation at every width, values checked by printing them.
// FLAGS: -mcx16 -Wno-atomic-alignment
// HOOKS: __heddle_atomic_load1 __heddle_atomic_load2 __heddle_atomic_load4 __heddle_atomic_load8
// HOOKS: __heddle_atomic_store1 __heddle_atomic_store2 __heddle_atomic_store4
// __heddle_atomic_store8 HOOKS: __heddle_atomic_rmw1 __heddle_atomic_rmw2 __heddle_atomic_rmw4
// __heddle_atomic_rmw8 HOOKS: __heddle_atomic_cas1 __heddle_atomic_cas2 __heddle_atomic_cas4
// __heddle_atomic_cas8 HOOKS: __heddle_fence
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#define SHOW(T, x) printf("%lld ", (long long)(T)(x))

#define EXERCISE(T)                                                                              \
  static T cell_##T;                                                                             \
  static void exercise_##T(void) {                                                               \
    T* p = &cell_##T;                                                                            \
    __atomic_store_n(p, (T)100, __ATOMIC_RELEASE);                                               \
    SHOW(T, __atomic_load_n(p, __ATOMIC_ACQUIRE));                                               \
    SHOW(T, __atomic_exchange_n(p, (T) - 7, __ATOMIC_SEQ_CST));                                  \
    SHOW(T, __atomic_fetch_add(p, (T)200, __ATOMIC_RELAXED));                                    \
    SHOW(T, __atomic_fetch_sub(p, (T)3, __ATOMIC_ACQ_REL));                                      \
    SHOW(T, __atomic_fetch_and(p, (T)0xf3, __ATOMIC_SEQ_CST));                                   \
    SHOW(T, __atomic_fetch_or(p, (T)0x18, __ATOMIC_SEQ_CST));                                    \
    SHOW(T, __atomic_fetch_xor(p, (T) - 1, __ATOMIC_SEQ_CST));                                   \
    SHOW(T, __atomic_fetch_nand(p, (T)0x55, __ATOMIC_SEQ_CST));                                  \
    SHOW(T, __atomic_fetch_max(p, (T)12, __ATOMIC_SEQ_CST));                                     \
    SHOW(T, __atomic_fetch_min(p, (T) - 3, __ATOMIC_SEQ_CST));                                   \
    SHOW(T, __atomic_fetch_max(p, (T) - 2, __ATOMIC_SEQ_CST));                                   \
    T expected = 1;                                                                              \
    int done =                                                                                   \
        __atomic_compare_exchange_n(p, &expected, (T)42, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE); \
    printf("%d:%lld ", done, (long long)expected);                                               \
    done =                                                                                       \
        __atomic_compare_exchange_n(p, &expected, (T)43, 1, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    printf("%d:%lld ", done, (long long)expected);                                               \
    printf("%lld\n", (long long)__atomic_load_n(p, __ATOMIC_SEQ_CST));                           \
  }
EXERCISE(int8_t)
EXERCISE(uint8_t)
EXERCISE(int16_t)
EXERCISE(uint16_t)
EXERCISE(int32_t)
EXERCISE(uint32_t)
EXERCISE(int64_t)
EXERCISE(uint64_t)

static _Atomic(float) f32;
static _Atomic(double) f64;
static _Atomic(int*) where;
static int targets[4];
static __int128 wide;
static _Atomic long shared;
static atomic_flag gate = ATOMIC_FLAG_INIT;
static long guarded;

static void* work(void* unused) {
  for (int i = 0; i < 1000; ++i) {
    shared++;
    while (atomic_flag_test_and_set_explicit(&gate, memory_order_acquire)) {
    }
    guarded++;
    atomic_flag_clear_explicit(&gate, memory_order_release);
  }
  return unused;
}

int main(void) {
  exercise_int8_t();
  exercise_uint8_t();
  exercise_int16_t();
  exercise_uint16_t();
  exercise_int32_t();
  exercise_uint32_t();
  exercise_int64_t();
  exercise_uint64_t();

  f32 = 1.5f;
  f32 += 2.25f;
  printf("%a %a\n", (double)__c11_atomic_fetch_add(&f32, 4.0f, __ATOMIC_SEQ_CST), (double)f32);
  f64 = -0.0;
  printf("%a %a\n", __c11_atomic_fetch_sub(&f64, 1.0, __ATOMIC_RELAXED), f64);
  where = &targets[1];
  __c11_atomic_fetch_add(&where, 2, __ATOMIC_SEQ_CST);
  printf("%ld\n", (long)(atomic_exchange(&where, targets) - targets));

  __int128 old = 0;
  int done = __atomic_compare_exchange_n(&wide, &old, ((__int128)5 << 64) | 6, 0, __ATOMIC_SEQ_CST,
                                         __ATOMIC_SEQ_CST);
  printf("%d %ld %ld\n", done, (long)(wide >> 64), (long)wide);

  atomic_thread_fence(memory_order_seq_cst);
  atomic_signal_fence(memory_order_seq_cst);
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], 0);
  printf("%ld %ld\n", shared, guarded);
  return 0;
}
