// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include "runtime/session/session.h"

namespace heddle::runtime {

int thread_create(Session& session, pthread_t* handle, const pthread_attr_t* attributes,
                  void* (*routine)(void*), void* argument, abi::SiteId site);
int thread_join(Session& session, pthread_t handle, void** result, abi::SiteId site);
int thread_detach(Session& session, pthread_t handle, abi::SiteId site);
/// Unwinds the calling thread's stack, then ends it.
[[noreturn]] void thread_exit(Session& session, void* result);

}  // namespace heddle::runtime
