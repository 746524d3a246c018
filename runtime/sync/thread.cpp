// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/thread.h"

#include <dlfcn.h>
#include <setjmp.h>

#include <cerrno>
#include <cstdlib>

#include "runtime/entry/gate.h"
#include "runtime/sync/cancellation.h"
#include "runtime/sync/mutex.h"
#include "runtime/sync/signals.h"
#include "runtime/sync/thread_attributes.h"
#include "runtime/sync/thread_locals.h"

namespace heddle::runtime {
namespace {

/// As the C++ ABI lays it out.
struct UnwindException {
  std::uint64_t exception_class;
  void (*cleanup)(int, UnwindException*);
  std::uint64_t private_data[2];
} __attribute__((aligned(16)));

/// Where pthread_exit comes back to: the frame that called the thread's routine. The exception lies
/// here because every frame above is gone before it is used for the last time.
struct ExitTarget {
  jmp_buf jump;
  std::uint64_t frame;
  UnwindException exception;
};

abi::ThreadIndex joined_thread(const Operation& operation) {
  return static_cast<abi::ThreadIndex>(operation.detail);
}

bool join_ready(const Operation& operation) {
  const Thread& joined = session().thread(joined_thread(operation));
  return joined.finished || joined.exited || cancellation_due(operation.thread);
}

abi::ThreadIndex join_holder(const Operation& operation, abi::SiteId&) {
  return joined_thread(operation);
}

constexpr Blocking kJoining{&join_ready, &join_holder};

/// A frame of its own, so that what pthread_exit jumps back to outlives the routine's frames.
__attribute__((noinline)) void run_routine(Session& session) {
  ExitTarget target;
  target.frame = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  Thread& thread = session.current();
  thread.exit_target = &target;
  // The table of threads may move while the routine runs: look the thread up again afterwards.
  void* (*const routine)(void*) = thread.routine;
  void* const argument = thread.argument;
  if (setjmp(target.jump) == 0) {
    void* const result = routine(argument);
    session.current().result = result;
  }
}

/// The first thing a new thread does, at its first turn.
void thread_main() {
  Session& the_session = session();
  the_session.look_for_debugger();
  the_session.record(the_session.current().pending);
  Gate::open();
  Gate::attend();  // a signal or a cancellation may have come before it ever ran
  run_routine(the_session);
  cancellation_close(the_session.current_index());
  run_thread_local_destructors(the_session.current_index());
  Gate::close();
  const Operation operation =
      operation_on(nullptr, abi::EventKind::ThreadExit, abi::kThreadExitSite);
  the_session.arrive(operation);
  mutex_abandon_all(the_session);
  the_session.record(operation);
  the_session.finish_thread();
}

// libgcc_s is found at run time, as libc itself does: this library depends on libc alone.
using StopFunction = int (*)(int, int, std::uint64_t, UnwindException*, void*, void*);
using ForcedUnwind = int (*)(UnwindException*, StopFunction, void*);
using GetCfa = std::uint64_t (*)(void*);

struct Unwinder {
  ForcedUnwind unwind;
  GetCfa get_cfa;
};

constinit Unwinder unwinder = {};

void find_unwinder(Session& session) {
  if (!load_unwinder()) {
    session.unsupported("pthread_exit needs libgcc_s.so.1, which is not installed");
  }
}

/// The stack pointer that setjmp saved in pthread_cleanup_push. libc stores it mangled.
std::uint64_t saved_stack_pointer(const __pthread_unwind_buf_t& buffer) {
  constexpr int kRsp = 6;
  auto value = static_cast<std::uint64_t>(buffer.__cancel_jmp_buf[0].__cancel_jmp_buf[kRsp]);
  asm("ror $0x11, %0; xor %%fs:0x30, %0" : "+r"(value));
  return value;
}

int stop_unwinding(int, int actions, std::uint64_t, UnwindException*, void* context, void* target) {
  constexpr int kEndOfStack = 16;
  auto& exit_target = *static_cast<ExitTarget*>(target);
  const bool at_end = (actions & kEndOfStack) != 0;
  const std::uint64_t frame = unwinder.get_cfa(context);
  // The function that called pthread_cleanup_push runs the handler itself and then calls
  // __pthread_unwind_next.
  __pthread_unwind_buf_t* const cleanup = cleanup_innermost(session().current_index());
  if (cleanup != nullptr && (at_end || frame >= saved_stack_pointer(*cleanup))) {
    _longjmp(reinterpret_cast<__jmp_buf_tag*>(cleanup), 1);
  }
  if (at_end || frame >= exit_target.frame) longjmp(exit_target.jump, 1);
  return 0;  // _URC_NO_REASON: go on unwinding
}

[[noreturn]] void unwind(Session& session) {
  find_unwinder(session);
  auto* const target = static_cast<ExitTarget*>(session.current().exit_target);
  target->exception = {};
  Gate::open();  // destructors on the way are the program's
  unwinder.unwind(&target->exception, &stop_unwinding, target);
  __builtin_trap();
}

/// What to say of a handle that nobody has: that of a thread that was left out with the iteration
/// that creates it never came to be.
int unknown(const Session& session) {
  return session.lacks_threads() ? 0 : ESRCH;
}

int join_absent(Thread& thread, void** result) {
  thread.joined = true;
  if (result != nullptr) *result = nullptr;
  return 0;
}

void wait_for_all_others(Session& session) {
  for (std::uint32_t i = 1; i < session.thread_count(); ++i) {
    const Thread& other = session.thread(static_cast<abi::ThreadIndex>(i));
    if (other.is_flusher() || other.absent) continue;
    Operation operation = operation_on(reinterpret_cast<void*>(other.handle),
                                       abi::EventKind::ThreadJoin, abi::kThreadExitSite, &kJoining);
    operation.detail = i;
    session.arrive(operation);
    session.record(operation, 0, i);
  }
}

}  // namespace

bool load_unwinder() {
  if (unwinder.unwind != nullptr) return true;
  void* const library = dlopen("libgcc_s.so.1", RTLD_NOW);
  if (library == nullptr) return false;
  unwinder = {reinterpret_cast<ForcedUnwind>(dlsym(library, "_Unwind_ForcedUnwind")),
              reinterpret_cast<GetCfa>(dlsym(library, "_Unwind_GetCFA"))};
  return unwinder.unwind != nullptr && unwinder.get_cfa != nullptr;
}

int thread_create(Session& session, pthread_t* handle, const pthread_attr_t* attributes,
                  void* (*routine)(void*), void* argument, abi::SiteId site) {
  ThreadAttributes wanted;
  if (const int error = read_attributes(attributes, wanted)) return error;
  const bool absent = session.next_child_is_absent();
  const Operation operation = operation_on(nullptr, abi::EventKind::ThreadCreate, site);
  if (!absent) session.arrive(operation);
  Thread* const thread = session.create_thread(wanted.stack, &thread_main);
  if (!absent) session.record(operation, 0, thread == nullptr ? abi::kNoThread : thread->index);
  if (thread == nullptr) return EAGAIN;
  signal_inherit_mask(session.current_index(), thread->index);
  if (wanted.has_mask) signal_change_mask(thread->index, SIG_SETMASK, &wanted.mask, nullptr);
  thread->routine = routine;
  thread->argument = argument;
  thread->detached = wanted.detached;
  *handle = thread->handle;
  return 0;
}

int thread_join(Session& session, pthread_t handle, void** result, abi::SiteId site) {
  Thread* const found = find_thread_by_handle(session, handle);
  if (found == nullptr) return unknown(session);
  if (found->detached) return EINVAL;
  if (found->index == session.current_index()) return EDEADLK;
  if (found->absent) return join_absent(*found, result);
  const abi::ThreadIndex index = found->index;
  Operation operation =
      operation_on(reinterpret_cast<void*>(handle), abi::EventKind::ThreadJoin, site, &kJoining);
  operation.detail = index;
  session.arrive(operation);
  cancellation_act(session, site);
  session.record(operation, 0, index);
  Thread& joined = session.thread(index);
  joined.joined = true;
  if (result != nullptr) *result = joined.result;
  return 0;
}

int thread_detach(Session& session, pthread_t handle, abi::SiteId site) {
  Thread* const found = find_thread_by_handle(session, handle);
  if (found == nullptr) return unknown(session);
  if (found->detached) return EINVAL;
  const abi::ThreadIndex index = found->index;
  if (found->absent) {
    found->detached = true;
    return 0;
  }
  const Operation operation = operation_on(nullptr, abi::EventKind::ThreadDetach, site);
  session.arrive(operation);
  session.thread(index).detached = true;
  session.record(operation, 0, index);
  return 0;
}

int thread_try_join(Session& session, pthread_t handle, void** result, const timespec* deadline,
                    abi::SiteId site) {
  Thread* const found = find_thread_by_handle(session, handle);
  if (found == nullptr) return unknown(session);
  if (found->detached) return EINVAL;
  if (found->index == session.current_index()) return EDEADLK;
  if (found->absent) return join_absent(*found, result);
  const abi::ThreadIndex index = found->index;
  const Operation operation = operation_on(nullptr, abi::EventKind::ThreadTryjoin, site);
  session.arrive(operation);
  if (deadline != nullptr) cancellation_act(session, site);
  Thread& thread = session.thread(index);
  const bool over = thread.finished || thread.exited;
  const int error = over ? 0 : (deadline == nullptr ? EBUSY : ETIMEDOUT);
  if (error == ETIMEDOUT) session.clock().advance_to(VirtualClock::nanoseconds(*deadline));
  session.record(operation, 0, index, static_cast<std::uint64_t>(error));
  if (error != 0) return error;
  thread.joined = true;
  if (result != nullptr) *result = thread.result;
  return 0;
}

Thread* find_thread_by_handle(Session& session, pthread_t handle) {
  for (std::uint32_t i = 0; i < session.thread_count(); ++i) {
    Thread& thread = session.thread(static_cast<abi::ThreadIndex>(i));
    if (thread.handle == handle && !thread.joined && !thread.is_flusher()) return &thread;
  }
  return nullptr;
}

void thread_exit(Session& session, void* result) {
  Thread& thread = session.current();
  cancellation_close(thread.index);
  thread.result = result;
  if (thread.exit_target == nullptr) {  // the main thread, in a constructor before main
    wait_for_all_others(session);
    Gate::open();
    std::exit(0);
  }
  unwind(session);
}

void thread_continue_exit(Session& session, __pthread_unwind_buf_t* handled) {
  cleanup_pop(session.current_index(), handled);
  unwind(session);
}

// A frame of its own for the same reason as run_routine.
__attribute__((noinline)) int thread_run_main(int (*main)(int, char**, char**), int count,
                                              char** arguments, char** environment) {
  ExitTarget target;
  target.frame = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  Session& the_session = session();
  the_session.current().exit_target = &target;
  if (setjmp(target.jump) == 0) return main(count, arguments, environment);
  // pthread_exit in the main thread: the process outlives it, until all others are over.
  run_thread_local_destructors(the_session.current_index());
  Gate::close();
  the_session.current().exited = true;
  the_session.refresh(the_session.current().handle);
  wait_for_all_others(the_session);
  Gate::open();
  std::exit(0);
}

}  // namespace heddle::runtime
