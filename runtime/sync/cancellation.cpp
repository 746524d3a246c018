// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/cancellation.h"

#include <cerrno>

#include "runtime/entry/gate.h"
#include "runtime/sync/signals.h"
#include "runtime/sync/thread.h"

namespace heddle::runtime {
namespace {

struct State {
  __pthread_unwind_buf_t* cleanup;
  bool requested;
  bool disabled;
  bool asynchronous;
  bool ending;
};

constinit State states[abi::kMaxThreads] = {};

}  // namespace

int cancellation_request(Session& session, pthread_t handle, abi::SiteId site) {
  Thread* const found = find_thread_by_handle(session, handle);
  if (found == nullptr) return ESRCH;
  const abi::ThreadIndex index = found->index;
  const Operation operation = operation_on(nullptr, abi::EventKind::ThreadCancel, site);
  session.arrive(operation);
  states[index].requested = true;
  session.record(operation, 0, index);
  if (states[index].asynchronous) {
    signal_watch(session);
    Gate::call_attention();
  }
  if (!session.thread(index).finished && index != session.current_index()) {
    session.refresh_thread(index);
  }
  return 0;
}

int cancellation_set_state(abi::ThreadIndex thread, int state, int* before) {
  if (state != PTHREAD_CANCEL_ENABLE && state != PTHREAD_CANCEL_DISABLE) return EINVAL;
  State& of_thread = states[thread];
  if (before != nullptr) {
    *before = of_thread.disabled ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;
  }
  of_thread.disabled = state == PTHREAD_CANCEL_DISABLE;
  if (of_thread.asynchronous) Gate::call_attention();
  return 0;
}

int cancellation_set_type(abi::ThreadIndex thread, int type, int* before) {
  if (type != PTHREAD_CANCEL_DEFERRED && type != PTHREAD_CANCEL_ASYNCHRONOUS) return EINVAL;
  State& of_thread = states[thread];
  if (before != nullptr) {
    *before = of_thread.asynchronous ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED;
  }
  of_thread.asynchronous = type == PTHREAD_CANCEL_ASYNCHRONOUS;
  if (of_thread.asynchronous) Gate::call_attention();
  return 0;
}

bool cancellation_due(abi::ThreadIndex thread) {
  const State& state = states[thread];
  return state.requested && !state.disabled && !state.ending;
}

bool cancellation_due_at_once(abi::ThreadIndex thread) {
  return states[thread].asynchronous && cancellation_due(thread);
}

void cancellation_act(Session& session, abi::SiteId site) {
  if (!cancellation_due(session.current_index())) return;
  session.record(operation_on(nullptr, abi::EventKind::ThreadTestcancel, site));
  thread_exit(session, PTHREAD_CANCELED);
}

void cancellation_close(abi::ThreadIndex thread) {
  states[thread].ending = true;
}

// The buffer has room for libc's own use; libc keeps the next outer buffer there too.
void cleanup_push(abi::ThreadIndex thread, __pthread_unwind_buf_t* buffer) {
  buffer->__pad[0] = states[thread].cleanup;
  states[thread].cleanup = buffer;
}

void cleanup_pop(abi::ThreadIndex thread, __pthread_unwind_buf_t* buffer) {
  states[thread].cleanup = static_cast<__pthread_unwind_buf_t*>(buffer->__pad[0]);
}

__pthread_unwind_buf_t* cleanup_innermost(abi::ThreadIndex thread) {
  return states[thread].cleanup;
}

}  // namespace heddle::runtime
