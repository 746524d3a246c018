// SPDX-License-Identifier: Apache-2.0
//
// Cancellation: who was asked to end, who may act on it, and what is registered to be run then. A
// request is acted upon at the cancellation points the runtime controls (waits, joins, sleeps,
// descriptors that would block), and under the asynchronous type at the end of any operation.
#pragma once

#include <pthread.h>

#include "runtime/session/session.h"

namespace heddle::runtime {

int cancellation_request(Session& session, pthread_t handle, abi::SiteId site);
int cancellation_set_state(abi::ThreadIndex thread, int state, int* before);
int cancellation_set_type(abi::ThreadIndex thread, int type, int* before);

/// The thread was asked to end and is willing to. Operations that are cancellation points are ready
/// when this holds, and call cancellation_act() at their turn.
bool cancellation_due(abi::ThreadIndex thread);
/// The same, and it need not wait for a cancellation point.
bool cancellation_due_at_once(abi::ThreadIndex thread);
/// Ends the current thread if that is due, instead of what it came to do. The gate is closed.
void cancellation_act(Session& session, abi::SiteId site);
/// The thread has begun to end: from now on nothing is due.
void cancellation_close(abi::ThreadIndex thread);

// pthread_cleanup_push in C: buffers on the stack, the innermost first.
void cleanup_push(abi::ThreadIndex thread, __pthread_unwind_buf_t* buffer);
void cleanup_pop(abi::ThreadIndex thread, __pthread_unwind_buf_t* buffer);
__pthread_unwind_buf_t* cleanup_innermost(abi::ThreadIndex thread);

}  // namespace heddle::runtime
