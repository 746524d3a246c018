// SPDX-License-Identifier: Apache-2.0
//
// Destructors of thread_local variables and of pthread keys. libc runs them when a kernel thread
// ends; a fiber's lender never does, so the runtime keeps its own lists.
#pragma once

#include <pthread.h>

#include "abi/channel.h"

namespace heddle::runtime {

void add_thread_local_destructor(abi::ThreadIndex thread, void (*destructor)(void*), void* object);
void add_key(pthread_key_t key, void (*destructor)(void*));
void remove_key(pthread_key_t key);
/// Runs the program's code: the gate must be open.
void run_thread_local_destructors(abi::ThreadIndex thread);

}  // namespace heddle::runtime
