// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/signals.h"

#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>

#include "runtime/base/process_id.h"
#include "runtime/base/vector.h"
#include "runtime/entry/gate.h"
#include "runtime/entry/real.h"
#include "runtime/sync/cancellation.h"
#include "runtime/sync/thread.h"

namespace heddle::runtime {
namespace {

constexpr int kSignals = 64;
constexpr long kSetBytes = 8;  // of the kernel's signal sets
using SignalSet = std::uint64_t;

struct OfThread {
  SignalSet sent;  // by pthread_kill, not yet delivered
  SignalSet mask;  // valid once some thread has set one
};
constinit OfThread of[abi::kMaxThreads] = {};
constinit bool masks_differ = false;
constinit SignalSet kernel_mask = 0;

/// Came from outside while the runtime was at work.
constinit SignalSet deferred = 0;
constinit siginfo_t deferred_info[kSignals + 1] = {};
constinit Vector<siginfo_t> queued = {};  // real-time signals of a number that is there already
constinit struct sigaction actions[kSignals + 1] = {};
constinit SignalSet wrapped = 0;  // signals whose handler in the kernel is on_signal

SignalSet bit_of(int number) {
  return SignalSet{1} << (number - 1);
}

SignalSet set_of(const sigset_t* set) {
  SignalSet result;
  std::memcpy(&result, set, sizeof result);
  return result;
}

void set_kernel_mask(SignalSet mask) {
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask), 0, kSetBytes);
  kernel_mask = mask;
}

SignalSet ask_kernel_mask() {
  SignalSet mask = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, reinterpret_cast<long>(&mask), kSetBytes);
  return mask;
}

bool is_synchronous(int number) {
  return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
         number == SIGTRAP || number == SIGSYS || number == SIGABRT;
}

bool is_ignored(int number) {
  struct sigaction action{};
  real().sigaction(number, nullptr, &action);
  if (action.sa_handler == SIG_IGN) return true;
  const bool harmless =
      number == SIGCHLD || number == SIGURG || number == SIGWINCH || number == SIGCONT;
  return action.sa_handler == SIG_DFL && harmless;
}

void call_handler(int number, siginfo_t* info, void* context) {
  const struct sigaction action = actions[number];
  if ((static_cast<unsigned>(action.sa_flags) & SA_RESETHAND) != 0) {
    actions[number].sa_handler = SIG_DFL;
  }
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    // Sent by the program to itself.
    if (info->si_code <= 0 && info->si_pid == real_process_id())
      info->si_pid = session().process_id();
    action.sa_sigaction(number, info, context);
  } else {
    action.sa_handler(number);
  }
}

void defer(const siginfo_t& info) {
  const int number = info.si_signo;
  if ((deferred & bit_of(number)) == 0) {
    deferred |= bit_of(number);
    deferred_info[number] = info;
  } else if (number >= SIGRTMIN) {
    queued.push_back(info);
  }
}

/// One deferred signal of that number is dealt with.
void take_deferred(int number) {
  deferred &= ~bit_of(number);
  for (std::size_t i = 0; i < queued.size(); ++i) {
    if (queued[i].si_signo != number) continue;
    defer(queued[i]);
    return queued.erase(i);
  }
}

/// Stands in the kernel for the program's handlers of signals that may come at any time.
void on_signal(int number, siginfo_t* info, void* context) {
  if (session().running() && Gate::closed()) {
    // Not queued: what the runtime was at may be its memory.
    deferred |= bit_of(number);
    deferred_info[number] = *info;
    Gate::call_attention();
    return;
  }
  const int error = errno;
  call_handler(number, info, context);
  errno = error;
}

void handle_while_waiting(Session& session) {
  if (cancellation_due_at_once(session.current_index())) thread_exit(session, PTHREAD_CANCELED);
  Gate::open();
  signal_deliver(session);
  Gate::close();
}

SignalSet due_for(abi::ThreadIndex thread) {
  return (of[thread].sent | deferred) & ~signal_mask_of(thread);
}

bool is_interrupted(abi::ThreadIndex thread) {
  return signal_due(thread) || cancellation_due_at_once(thread);
}

constexpr Interruption kInterruption{&is_interrupted, &handle_while_waiting};

bool is_blocked_by_all(Session& session, int number) {
  for (std::uint32_t i = 0; i < session.thread_count(); ++i) {
    const Thread& thread = session.thread(static_cast<abi::ThreadIndex>(i));
    const bool blocks = (signal_mask_of(thread.index) & bit_of(number)) != 0;
    if (!thread.finished && !blocks) return false;
  }
  return true;
}

bool has_handler(int number) {
  return (wrapped & bit_of(number)) != 0;
}

/// The kernel would run it with the signal and the action's own set blocked.
void run_deferred(int number) {
  siginfo_t info = deferred_info[number];
  take_deferred(number);
  if (!has_handler(number)) {  // has it no more, or never had, and the thread blocks it no more
    if (!is_ignored(number)) raw_syscall(SYS_kill, raw_syscall(SYS_getpid), number);
    return;
  }
  const SignalSet before = ask_kernel_mask();
  set_kernel_mask(before | set_of(&actions[number].sa_mask) | bit_of(number));
  const int error = errno;
  static constinit ucontext_t no_context = {};  // there is none: it was interrupted long ago
  call_handler(number, &info, &no_context);
  errno = error;
  set_kernel_mask(before);
}

}  // namespace

std::uint64_t signal_mask_of(abi::ThreadIndex thread) {
  return masks_differ ? of[thread].mask : 0;
}

int signal_send(Session& session, pthread_t handle, int number, abi::SiteId site) {
  if (number < 0 || number > kSignals) return EINVAL;
  Thread* const found = find_thread_by_handle(session, handle);
  if (found == nullptr) return ESRCH;
  const abi::ThreadIndex index = found->index;
  Operation operation = operation_on(nullptr, abi::EventKind::ThreadSignal, site);
  operation.detail = index + 1u;
  session.arrive(operation);
  session.record(operation, 0, index, static_cast<std::uint64_t>(number));
  const bool finished = session.thread(index).finished;
  if (number == 0 || finished || is_ignored(number)) return 0;
  session.set_interruption(kInterruption);
  of[index].sent |= bit_of(number);
  Gate::call_attention();
  if (index != session.current_index()) session.refresh_thread(index);
  return 0;
}

void signal_watch(Session& session) {
  session.set_interruption(kInterruption);
}

bool signal_is_handled(int number) {
  return has_handler(number);
}

bool signal_helps(int number) {
  return (deferred & bit_of(number)) == 0 &&
         (has_handler(number) || is_blocked_by_all(session(), number));
}

void signal_post(Session& session, const siginfo_t& info, abi::ThreadIndex target) {
  const int number = info.si_signo;
  if (!has_handler(number) && !is_blocked_by_all(session, number)) {
    if (!is_ignored(number)) raw_syscall(SYS_kill, raw_syscall(SYS_getpid), number);
    return;
  }
  session.set_interruption(kInterruption);
  if (target == abi::kNoThread) {
    defer(info);
  } else {
    of[target].sent |= bit_of(number);
  }
  Gate::call_attention();
  for (std::uint32_t i = 0; i < session.thread_count(); ++i) {
    const auto index = static_cast<abi::ThreadIndex>(i);
    const Thread& thread = session.thread(index);
    if (!thread.finished && !thread.is_flusher() && signal_due(index))
      session.refresh_thread(index);
  }
}

int signal_change_mask(abi::ThreadIndex thread, int how, const sigset_t* change, sigset_t* before) {
  if (!masks_differ) {
    kernel_mask = ask_kernel_mask();
    for (OfThread& each : of) each.mask = kernel_mask;
    masks_differ = true;
    Gate::attend_switches();
  }
  // Copied first: the program may give the same set for both.
  const SignalSet given = change == nullptr ? 0 : set_of(change);
  if (before != nullptr) {
    std::memset(before, 0, sizeof *before);
    std::memcpy(before, &of[thread].mask, sizeof of[thread].mask);
  }
  if (change == nullptr) return 0;
  switch (how) {
    case SIG_BLOCK: of[thread].mask |= given; break;
    case SIG_UNBLOCK: of[thread].mask &= ~given; break;
    case SIG_SETMASK: of[thread].mask = given; break;
    default: return EINVAL;
  }
  of[thread].mask &= ~(bit_of(SIGKILL) | bit_of(SIGSTOP) | bit_of(32) | bit_of(33));
  if (thread == session().current_index()) set_kernel_mask(of[thread].mask);
  Gate::call_attention();
  return 0;
}

void signal_inherit_mask(abi::ThreadIndex from, abi::ThreadIndex to) {
  of[to].mask = of[from].mask;
  of[to].sent = 0;
}

std::uint64_t signal_waiting(abi::ThreadIndex thread) {
  return of[thread].sent | deferred;
}

bool signal_due(abi::ThreadIndex thread) {
  return due_for(thread) != 0;
}

bool signal_restarts(abi::ThreadIndex thread) {
  const SignalSet due = due_for(thread);
  if (due == 0) return false;
  return (actions[std::countr_zero(due) + 1].sa_flags & SA_RESTART) != 0;
}

void signal_deliver(Session& session) {
  const abi::ThreadIndex thread = session.current_index();
  if (masks_differ && of[thread].mask != kernel_mask) set_kernel_mask(of[thread].mask);
  while (const SignalSet due = due_for(thread)) {
    const int number = std::countr_zero(due) + 1;
    if ((of[thread].sent & bit_of(number)) == 0) {
      run_deferred(number);
      continue;
    }
    of[thread].sent &= ~bit_of(number);
    // The kernel thread that carries this thread now; the handler runs before the call returns.
    raw_syscall(SYS_tgkill, raw_syscall(SYS_getpid), raw_syscall(SYS_gettid), number);
  }
  // What is left is for other threads: they will come here too. So will threads with another mask,
  // when they go on; in a recorded run nobody knows when that is.
  SignalSet left = deferred;
  for (std::uint32_t i = 0; i < session.thread_count(); ++i) left |= of[i].sent;
  if (left != 0 || (masks_differ && !session.one_at_a_time())) Gate::call_attention();
}

int signal_take(abi::ThreadIndex thread, std::uint64_t set) {
  const SignalSet here = (of[thread].sent | deferred) & set;
  if (here == 0) return 0;
  const int number = std::countr_zero(here) + 1;
  if ((of[thread].sent & bit_of(number)) != 0) {
    of[thread].sent &= ~bit_of(number);
  } else {
    take_deferred(number);
  }
  return number;
}

int signal_set_action(int number, const struct sigaction* action, struct sigaction* before) {
  if (number < 1 || number > kSignals || is_synchronous(number)) {
    return real().sigaction(number, action, before);
  }
  const bool was_wrapped = (wrapped & bit_of(number)) != 0;
  const struct sigaction old = actions[number];
  struct sigaction changed{};
  bool wraps = false;
  if (action != nullptr) {
    changed = *action;
    wraps = action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
    if (wraps) {
      changed.sa_sigaction = &on_signal;
      changed.sa_flags |= SA_SIGINFO;
      actions[number] = *action;  // before the kernel may call it
    }
  }
  const int result = real().sigaction(number, action == nullptr ? nullptr : &changed, before);
  if (result != 0) {
    actions[number] = old;
    return result;
  }
  if (before != nullptr && was_wrapped) *before = old;
  if (action != nullptr) {
    actions[number] = *action;
    wrapped = wraps ? wrapped | bit_of(number) : wrapped & ~bit_of(number);
  }
  return 0;
}

}  // namespace heddle::runtime
