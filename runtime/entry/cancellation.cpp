// SPDX-License-Identifier: Apache-2.0
//
// Cancellation, and what C code compiled with pthread_cleanup_push calls. C++ code needs nothing:
// there cleanup is a destructor, which unwinding runs.
#include "runtime/sync/cancellation.h"

#include "runtime/entry/entry.h"
#include "runtime/sync/thread.h"

using namespace heddle::runtime;

HEDDLE_ENTRY int pthread_cancel(pthread_t handle) {
  const Gate gate;
  if (!gate) return real().pthread_cancel(handle);
  return cancellation_request(session(), handle, call_site());
}

HEDDLE_ENTRY int pthread_setcancelstate(int state, int* before) {
  const Gate gate;
  if (!gate) return real().pthread_setcancelstate(state, before);
  return cancellation_set_state(session().current_index(), state, before);
}

HEDDLE_ENTRY int pthread_setcanceltype(int type, int* before) {
  const Gate gate;
  if (!gate) return real().pthread_setcanceltype(type, before);
  return cancellation_set_type(session().current_index(), type, before);
}

HEDDLE_ENTRY void pthread_testcancel() {
  const Gate gate;
  if (!gate) return real().pthread_testcancel();
  const Operation operation =
      operation_on(nullptr, heddle::abi::EventKind::ThreadTestcancel, call_site());
  session().arrive(operation);
  cancellation_act(session(), operation.site);
  session().record(operation);
}

HEDDLE_ENTRY void __pthread_register_cancel(__pthread_unwind_buf_t* buffer) {
  if (!session().running()) return real().__pthread_register_cancel(buffer);
  cleanup_push(session().current_index(), buffer);
}

HEDDLE_ENTRY void __pthread_unregister_cancel(__pthread_unwind_buf_t* buffer) {
  if (!session().running()) return real().__pthread_unregister_cancel(buffer);
  cleanup_pop(session().current_index(), buffer);
}

// pthread_cleanup_push_defer_np: also sets the deferred type until the matching pop.
HEDDLE_ENTRY void __pthread_register_cancel_defer(__pthread_unwind_buf_t* buffer) {
  if (!session().running()) return real().__pthread_register_cancel_defer(buffer);
  int before = 0;
  cancellation_set_type(session().current_index(), PTHREAD_CANCEL_DEFERRED, &before);
  cleanup_push(session().current_index(), buffer);
  buffer->__pad[1] = reinterpret_cast<void*>(static_cast<long>(before));
}

HEDDLE_ENTRY void __pthread_unregister_cancel_restore(__pthread_unwind_buf_t* buffer) {
  if (!session().running()) return real().__pthread_unregister_cancel_restore(buffer);
  cleanup_pop(session().current_index(), buffer);
  cancellation_set_type(session().current_index(),
                        static_cast<int>(reinterpret_cast<long>(buffer->__pad[1])), nullptr);
}

HEDDLE_ENTRY void __pthread_unwind_next(__pthread_unwind_buf_t* buffer) {
  if (!session().running()) real().__pthread_unwind_next(buffer);
  Gate::close();
  thread_continue_exit(session(), buffer);
}
