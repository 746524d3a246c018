// SPDX-License-Identifier: Apache-2.0
//
// The functions of libc that this library stands in front of, as libc has them.
#pragma once

#include <pthread.h>
#include <sys/types.h>
#include <time.h>

#define HEDDLE_REAL_FUNCTIONS(ROW) \
  ROW(pthread_create)              \
  ROW(pthread_join)                \
  ROW(pthread_detach)              \
  ROW(pthread_mutex_lock)          \
  ROW(pthread_mutex_trylock)       \
  ROW(pthread_mutex_unlock)        \
  ROW(pthread_mutex_destroy)       \
  ROW(pthread_cond_wait)           \
  ROW(pthread_cond_timedwait)      \
  ROW(pthread_cond_clockwait)      \
  ROW(pthread_cond_signal)         \
  ROW(pthread_cond_broadcast)      \
  ROW(pthread_cond_destroy)        \
  ROW(pthread_key_create)          \
  ROW(pthread_key_delete)          \
  ROW(pthread_once)                \
  ROW(__cxa_thread_atexit_impl)    \
  ROW(__assert_fail)               \
  ROW(fork)                        \
  ROW(nanosleep)                   \
  ROW(clock_nanosleep)             \
  ROW(clock_gettime)               \
  ROW(__libc_start_main)

extern "C" {
int __cxa_thread_atexit_impl(void (*destructor)(void*), void* object, void* module);
void __assert_fail(const char* expression, const char* file, unsigned line,
                   const char* function) noexcept __attribute__((noreturn));
pid_t fork() noexcept;
int __libc_start_main(int (*main)(int, char**, char**), int count, char** arguments, void (*init)(),
                      void (*fini)(), void (*loader_fini)(), void* stack_end);
}

namespace heddle::runtime {

struct RealFunctions {
#define HEDDLE_ROW(name) decltype(&::name) name;
  HEDDLE_REAL_FUNCTIONS(HEDDLE_ROW)
#undef HEDDLE_ROW
};

/// Looked up at the first call, which is made before the program has a second thread.
const RealFunctions& real();

}  // namespace heddle::runtime
