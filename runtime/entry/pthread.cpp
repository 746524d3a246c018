// SPDX-License-Identifier: Apache-2.0
//
// Stands in front of libc's threads and their local variables.
#include <pthread.h>
#include <sched.h>

#include <cerrno>

#include "runtime/entry/deadline.h"
#include "runtime/entry/entry.h"
#include "runtime/sync/thread.h"
#include "runtime/sync/thread_locals.h"

using namespace heddle::runtime;  // this file is nothing but calls into it

extern "C" __attribute__((visibility("default"))) std::uint32_t HEDDLE_CALL_SITE_SYMBOL = 0;

HEDDLE_ENTRY int pthread_create(pthread_t* handle, const pthread_attr_t* attributes,
                                void* (*routine)(void*), void* argument) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_create(handle, attributes, routine, argument);
  return thread_create(session(), handle, attributes, routine, argument, call_site());
}

HEDDLE_ENTRY int pthread_join(pthread_t handle, void** result) {
  const Gate gate;
  if (!gate) return real().pthread_join(handle, result);
  return thread_join(session(), handle, result, call_site());
}

HEDDLE_ENTRY int pthread_detach(pthread_t handle) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_detach(handle);
  return thread_detach(session(), handle, call_site());
}

HEDDLE_ENTRY int pthread_tryjoin_np(pthread_t handle, void** result) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_tryjoin_np(handle, result);
  return thread_try_join(session(), handle, result, nullptr, call_site());
}

HEDDLE_ENTRY int pthread_timedjoin_np(pthread_t handle, void** result, const timespec* deadline) {
  const Gate gate;
  if (!gate) return real().pthread_timedjoin_np(handle, result, deadline);
  if (deadline != nullptr && !is_time(*deadline)) return EINVAL;
  return thread_try_join(session(), handle, result, deadline, call_site());
}

HEDDLE_ENTRY int pthread_clockjoin_np(pthread_t handle, void** result, clockid_t clock,
                                      const timespec* deadline) {
  const Gate gate;
  if (!gate) return real().pthread_clockjoin_np(handle, result, clock, deadline);
  if (deadline != nullptr && !is_limit(clock, *deadline)) return EINVAL;
  return thread_try_join(session(), handle, result, deadline, call_site());
}

HEDDLE_ENTRY void pthread_exit(void* result) {
  if (!session().running()) real().pthread_exit(result);
  Gate::close();
  thread_exit(session(), result);
}

HEDDLE_ENTRY int pthread_key_create(pthread_key_t* key, void (*destructor)(void*)) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_key_create(key, destructor);
  const int result = real().pthread_key_create(key, nullptr);
  if (result == 0 && destructor != nullptr) add_key(*key, destructor);
  return result;
}

HEDDLE_ENTRY int pthread_key_delete(pthread_key_t key) noexcept {
  const Gate gate;
  if (gate) remove_key(key);
  return real().pthread_key_delete(key);
}

HEDDLE_ENTRY int __cxa_thread_atexit_impl(void (*destructor)(void*), void* object, void* module) {
  const Gate gate;
  // libc runs the main thread's at exit.
  if (!gate || session().current_index() == 0) {
    return real().__cxa_thread_atexit_impl(destructor, object, module);
  }
  add_thread_local_destructor(session().current_index(), destructor, object);
  return 0;
}

HEDDLE_ENTRY int sched_yield() noexcept {
  const Gate gate;
  if (!gate) return 0;
  const Operation operation = operation_on(nullptr, heddle::abi::EventKind::Yield, call_site());
  session().arrive(operation);
  session().record(operation);
  return 0;
}
