// SPDX-License-Identifier: Apache-2.0
//
// The functions of libc that this library stands in front of, as libc has them.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define HEDDLE_REAL_FUNCTIONS(ROW)         \
  ROW(pthread_create)                      \
  ROW(pthread_join)                        \
  ROW(pthread_tryjoin_np)                  \
  ROW(pthread_timedjoin_np)                \
  ROW(pthread_clockjoin_np)                \
  ROW(pthread_detach)                      \
  ROW(pthread_exit)                        \
  ROW(pthread_mutex_lock)                  \
  ROW(pthread_mutex_timedlock)             \
  ROW(pthread_mutex_clocklock)             \
  ROW(pthread_mutex_trylock)               \
  ROW(pthread_mutex_unlock)                \
  ROW(pthread_mutex_destroy)               \
  ROW(pthread_mutex_consistent)            \
  ROW(pthread_cond_wait)                   \
  ROW(pthread_cond_timedwait)              \
  ROW(pthread_cond_clockwait)              \
  ROW(pthread_cond_signal)                 \
  ROW(pthread_cond_broadcast)              \
  ROW(pthread_cond_destroy)                \
  ROW(pthread_rwlock_rdlock)               \
  ROW(pthread_rwlock_tryrdlock)            \
  ROW(pthread_rwlock_timedrdlock)          \
  ROW(pthread_rwlock_clockrdlock)          \
  ROW(pthread_rwlock_wrlock)               \
  ROW(pthread_rwlock_trywrlock)            \
  ROW(pthread_rwlock_timedwrlock)          \
  ROW(pthread_rwlock_clockwrlock)          \
  ROW(pthread_rwlock_unlock)               \
  ROW(pthread_rwlock_destroy)              \
  ROW(pthread_barrier_wait)                \
  ROW(pthread_barrier_destroy)             \
  ROW(pthread_spin_lock)                   \
  ROW(pthread_spin_trylock)                \
  ROW(pthread_spin_unlock)                 \
  ROW(sem_wait)                            \
  ROW(sem_timedwait)                       \
  ROW(sem_clockwait)                       \
  ROW(sem_trywait)                         \
  ROW(sem_post)                            \
  ROW(sem_destroy)                         \
  ROW(pthread_once)                        \
  ROW(pthread_key_create)                  \
  ROW(pthread_key_delete)                  \
  ROW(pthread_cancel)                      \
  ROW(pthread_setcancelstate)              \
  ROW(pthread_setcanceltype)               \
  ROW(pthread_testcancel)                  \
  ROW(__pthread_register_cancel)           \
  ROW(__pthread_unregister_cancel)         \
  ROW(__pthread_register_cancel_defer)     \
  ROW(__pthread_unregister_cancel_restore) \
  ROW(__pthread_unwind_next)               \
  ROW(pthread_kill)                        \
  ROW(pthread_sigmask)                     \
  ROW(sigaction)                           \
  ROW(raise)                               \
  ROW(pthread_setname_np)                  \
  ROW(pthread_getname_np)                  \
  ROW(pthread_setaffinity_np)              \
  ROW(pthread_getaffinity_np)              \
  ROW(pthread_setschedparam)               \
  ROW(pthread_getschedparam)               \
  ROW(pthread_setschedprio)                \
  ROW(pthread_getcpuclockid)               \
  ROW(timerfd_create)                      \
  ROW(timerfd_settime)                     \
  ROW(timerfd_gettime)                     \
  ROW(getrusage)                           \
  ROW(sigtimedwait)                        \
  ROW(sigsuspend)                          \
  ROW(getrandom)                           \
  ROW(getentropy)                          \
  ROW(ppoll)                               \
  ROW(pselect)                             \
  ROW(epoll_pwait)                         \
  ROW(__cxa_thread_atexit_impl)            \
  ROW(__assert_fail)                       \
  ROW(abort)                               \
  ROW(clone)                               \
  ROW(daemon)                              \
  ROW(nanosleep)                           \
  ROW(clock_nanosleep)                     \
  ROW(clock_gettime)                       \
  ROW(openat)                              \
  ROW(fopen)                               \
  ROW(fopen64)                             \
  ROW(fdopen)                              \
  ROW(popen)                               \
  ROW(realpath)                            \
  ROW(system)                              \
  ROW(posix_spawn)                         \
  ROW(posix_spawnp)                        \
  ROW(__libc_start_main)

extern "C" {
void __pthread_register_cancel_defer(__pthread_unwind_buf_t* buffer);
void __pthread_unregister_cancel_restore(__pthread_unwind_buf_t* buffer);
int __cxa_thread_atexit_impl(void (*destructor)(void*), void* object, void* module);
void __assert_fail(const char* expression, const char* file, unsigned line,
                   const char* function) noexcept __attribute__((noreturn));
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
