// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/thread.h"

#include <dlfcn.h>
#include <setjmp.h>

#include <cerrno>
#include <cstdlib>

#include "runtime/entry/gate.h"
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
  return session().thread(joined_thread(operation)).finished;
}

abi::ThreadIndex join_holder(const Operation& operation, abi::SiteId&) {
  return joined_thread(operation);
}

constexpr Blocking kJoining{&join_ready, &join_holder};

Thread* find_by_handle(Session& session, pthread_t handle) {
  for (std::uint32_t i = 0; i < session.thread_count(); ++i) {
    Thread& thread = session.thread(static_cast<abi::ThreadIndex>(i));
    if (thread.handle == handle && !thread.joined) return &thread;
  }
  return nullptr;
}

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
  the_session.record(the_session.current().pending);
  Gate::open();
  run_routine(the_session);
  run_thread_local_destructors(the_session.current_index());
  Gate::close();
  const Operation operation =
      operation_on(nullptr, abi::EventKind::ThreadExit, abi::kThreadExitSite);
  the_session.arrive(operation);
  the_session.record(operation);
  the_session.finish_thread();
}

// libgcc_s is found at run time, as libc itself does: this library depends on libc alone.
using StopFunction = int (*)(int, int, std::uint64_t, UnwindException*, void*, void*);
using ForcedUnwind = int (*)(UnwindException*, StopFunction, void*);
using GetCfa = std::uint64_t (*)(void*);

GetCfa get_cfa = nullptr;

int stop_unwinding(int, int actions, std::uint64_t, UnwindException*, void* context, void* target) {
  constexpr int kEndOfStack = 16;
  auto& exit_target = *static_cast<ExitTarget*>(target);
  if ((actions & kEndOfStack) != 0 || get_cfa(context) >= exit_target.frame) {
    longjmp(exit_target.jump, 1);
  }
  return 0;  // _URC_NO_REASON: go on unwinding
}

void wait_for_all_others(Session& session) {
  for (std::uint32_t i = 1; i < session.thread_count(); ++i) {
    const Thread& other = session.thread(static_cast<abi::ThreadIndex>(i));
    if (other.is_flusher()) continue;
    Operation operation = operation_on(reinterpret_cast<void*>(other.handle),
                                       abi::EventKind::ThreadJoin, abi::kThreadExitSite, &kJoining);
    operation.detail = i;
    session.arrive(operation);
    session.record(operation, 0, i);
  }
}

}  // namespace

int thread_create(Session& session, pthread_t* handle, const pthread_attr_t* attributes,
                  void* (*routine)(void*), void* argument, abi::SiteId site) {
  std::size_t stack_bytes = 0;
  int detach_state = PTHREAD_CREATE_JOINABLE;
  if (attributes != nullptr) {
    pthread_attr_getstacksize(attributes, &stack_bytes);
    pthread_attr_getdetachstate(attributes, &detach_state);
  }
  const Operation operation = operation_on(nullptr, abi::EventKind::ThreadCreate, site);
  session.arrive(operation);
  Thread* const thread = session.create_thread(stack_bytes, &thread_main);
  session.record(operation, 0, thread == nullptr ? abi::kNoThread : thread->index);
  if (thread == nullptr) return EAGAIN;
  thread->routine = routine;
  thread->argument = argument;
  thread->detached = detach_state == PTHREAD_CREATE_DETACHED;
  *handle = thread->handle;
  return 0;
}

int thread_join(Session& session, pthread_t handle, void** result, abi::SiteId site) {
  Thread* const found = find_by_handle(session, handle);
  if (found == nullptr) return ESRCH;
  if (found->detached) return EINVAL;
  if (found->index == session.current_index()) return EDEADLK;
  const abi::ThreadIndex index = found->index;
  Operation operation =
      operation_on(reinterpret_cast<void*>(handle), abi::EventKind::ThreadJoin, site, &kJoining);
  operation.detail = index;
  session.arrive(operation);
  session.record(operation, 0, index);
  Thread& joined = session.thread(index);
  joined.joined = true;
  if (result != nullptr) *result = joined.result;
  return 0;
}

int thread_detach(Session& session, pthread_t handle, abi::SiteId site) {
  Thread* const found = find_by_handle(session, handle);
  if (found == nullptr) return ESRCH;
  if (found->detached) return EINVAL;
  const abi::ThreadIndex index = found->index;
  const Operation operation = operation_on(nullptr, abi::EventKind::ThreadDetach, site);
  session.arrive(operation);
  session.thread(index).detached = true;
  session.record(operation, 0, index);
  return 0;
}

void thread_exit(Session& session, void* result) {
  Thread& thread = session.current();
  thread.result = result;
  if (thread.index == 0) {
    // The process outlives its main thread, until all others are over.
    wait_for_all_others(session);
    Gate::open();
    std::exit(0);
  }
  void* library = dlopen("libgcc_s.so.1", RTLD_NOW);
  const auto unwind = reinterpret_cast<ForcedUnwind>(dlsym(library, "_Unwind_ForcedUnwind"));
  get_cfa = reinterpret_cast<GetCfa>(dlsym(library, "_Unwind_GetCFA"));
  if (library == nullptr || unwind == nullptr || get_cfa == nullptr) {
    session.unsupported("pthread_exit needs libgcc_s.so.1, which is not installed");
  }
  auto* const target = static_cast<ExitTarget*>(thread.exit_target);
  target->exception = {};
  Gate::open();  // destructors on the way are the program's
  unwind(&target->exception, &stop_unwinding, target);
  __builtin_trap();
}

}  // namespace heddle::runtime
