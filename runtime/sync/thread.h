// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <ctime>

#include "runtime/session/session.h"

namespace heddle::runtime {

int thread_create(Session& session, pthread_t* handle, const pthread_attr_t* attributes,
                  void* (*routine)(void*), void* argument, abi::SiteId site);
int thread_join(Session& session, pthread_t handle, void** result, abi::SiteId site);
/// EBUSY at once, or with a deadline ETIMEDOUT, if the thread still runs.
int thread_try_join(Session& session, pthread_t handle, void** result, const timespec* deadline,
                    abi::SiteId site);
int thread_detach(Session& session, pthread_t handle, abi::SiteId site);
/// What thread_exit() needs besides libc; it loads it itself where that has not been done.
bool load_unwinder();
/// Unwinds the calling thread's stack, then ends it.
[[noreturn]] void thread_exit(Session& session, void* result);

/// Goes on unwinding after a handler of pthread_cleanup_push has run.
[[noreturn]] void thread_continue_exit(Session& session, __pthread_unwind_buf_t* handled);

/// Calls the program's main in a frame that pthread_exit can come back to.
int thread_run_main(int (*main)(int, char**, char**), int count, char** arguments,
                    char** environment);

/// nullptr when there is no such thread, or it was joined.
Thread* find_thread_by_handle(Session& session, pthread_t handle);

}  // namespace heddle::runtime
