// SPDX-License-Identifier: Apache-2.0
//
// What the shapes are written in. The same text is a C program (here), the input of an enumerator
// of the operational models (model.py), and its comment the expected outcomes of both.
//
//   THREAD(n, statements)    registers a and b; statements as below, straight-line
//   ST(x, v)  a = LD(x)      of the version compiled: plain, relaxed, acq_rel or seq_cst
//   ST_REL    LD_ACQ         of that order in every version
//   a = ADD(x, v)  a = XCHG(x, v)  a = CAS(x, expected, v)     give the value before
//   FENCE()  FENCE_REL()  FENCE_ACQ()
//   OBSERVE(A(1), B(2), FINAL(x))     the outcome, as numbers between blanks
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

// Volatile, so that the compiler leaves the plain version's accesses as they are written.
typedef volatile int cell;

#if defined(LITMUS_plain)
#define LD(x) (x)
#define ST(x, v) ((x) = (v))
#define LITMUS_UPDATE __ATOMIC_RELAXED
#else
#if defined(LITMUS_relaxed)
#define LITMUS_LOAD __ATOMIC_RELAXED
#define LITMUS_STORE __ATOMIC_RELAXED
#define LITMUS_UPDATE __ATOMIC_RELAXED
#elif defined(LITMUS_acq_rel)
#define LITMUS_LOAD __ATOMIC_ACQUIRE
#define LITMUS_STORE __ATOMIC_RELEASE
#define LITMUS_UPDATE __ATOMIC_ACQ_REL
#elif defined(LITMUS_seq_cst)
#define LITMUS_LOAD __ATOMIC_SEQ_CST
#define LITMUS_STORE __ATOMIC_SEQ_CST
#define LITMUS_UPDATE __ATOMIC_SEQ_CST
#else
#error "which version?"
#endif
#define LD(x) __atomic_load_n(&(x), LITMUS_LOAD)
#define ST(x, v) __atomic_store_n(&(x), (v), LITMUS_STORE)
#endif

#define LD_ACQ(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define ST_REL(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELEASE)
#define ADD(x, v) __atomic_fetch_add(&(x), (v), LITMUS_UPDATE)
#define XCHG(x, v) __atomic_exchange_n(&(x), (v), LITMUS_UPDATE)
#define CAS(x, expected, v) compare_exchange(&(x), (expected), (v))
#define FENCE() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define FENCE_REL() __atomic_thread_fence(__ATOMIC_RELEASE)
#define FENCE_ACQ() __atomic_thread_fence(__ATOMIC_ACQUIRE)

__attribute__((unused)) static int compare_exchange(cell* x, int expected, int value) {
  const int order = LITMUS_UPDATE == __ATOMIC_ACQ_REL ? __ATOMIC_ACQUIRE : LITMUS_UPDATE;
  __atomic_compare_exchange_n(x, &expected, value, 0, LITMUS_UPDATE, order);
  return expected;
}

// Registers travel in the thread's result: stores to them would be events.
#define THREAD(n, ...)                    \
  static void* thread_##n(void* unused) { \
    int a = 0, b = 0;                     \
    (void)unused;                         \
    __VA_ARGS__;                          \
    return (void*)(intptr_t)(a | b << 8); \
  }

static int litmus_results[8];
#define A(n) (litmus_results[n] & 0xff)
#define B(n) (litmus_results[n] >> 8)
#define FINAL(x) (x)

#define OBSERVE(...)                                                  \
  static void observe(void) {                                         \
    const int values[] = {__VA_ARGS__};                               \
    for (unsigned i = 0; i < sizeof values / sizeof values[0]; ++i) { \
      printf(i == 0 ? "%d" : " %d", values[i]);                       \
    }                                                                 \
    printf("\n");                                                     \
  }

#define MAIN(...)                                         \
  int main(void) {                                        \
    void* (*const bodies[])(void*) = {__VA_ARGS__};       \
    enum { kThreads = sizeof bodies / sizeof bodies[0] }; \
    pthread_t threads[kThreads];                          \
    for (int i = 0; i < kThreads; ++i) {                  \
      pthread_create(&threads[i], NULL, bodies[i], NULL); \
    }                                                     \
    for (int i = 0; i < kThreads; ++i) {                  \
      void* result;                                       \
      pthread_join(threads[i], &result);                  \
      litmus_results[i + 1] = (int)(intptr_t)result;      \
    }                                                     \
    observe();                                            \
    return 0;                                             \
  }
