// SPDX-License-Identifier: Apache-2.0
//
// Stands in front of the calls that wait for child processes and for signals. Children run natively
// beside the controlled threads; waiting for one stops only the thread that waits.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "runtime/entry/entry.h"
#include "runtime/entry/kernel_result.h"
#include "runtime/sync/descriptor.h"

using namespace heddle::runtime;
using heddle::abi::EventKind;

namespace {

/// subject: idtype and id of waitid; an error is an answer too.
bool child_changed(const OutsideEvent& event) {
  siginfo_t info{};
  const long result = raw_syscall(SYS_waitid, event.subject[0], event.subject[1], word(&info),
                                  WEXITED | WSTOPPED | WCONTINUED | WNOHANG | WNOWAIT, 0);
  return result < 0 || info.si_pid != 0;
}

/// `call` must not wait itself; 0 is its answer for "not yet".
template <typename Call>
long wait_for_child(idtype_t type, long id, bool waits, Call call) {
  Session& run = session();
  const Operation operation = operation_on(nullptr, EventKind::ProcessWait, call_site());
  for (;;) {
    OutsideEvent event{&child_changed, nullptr, 0, {type, id}};
    long result = descriptor_arrive(run, operation, event, waits ? kNoTimeLimit : 0);
    if (result == 0) result = call();
    // Process ids differ from run to run: what is recorded is whether there was one.
    run.record(operation, 0, static_cast<std::uint64_t>(result > 0 ? 1 : result));
    if (result == -EINTR && descriptor_restart(run)) continue;
    if (result != 0 || !waits) return result;
    raw_syscall(SYS_sched_yield);  // changed, but not in the way that is waited for
  }
}

std::uint64_t bits_of(const sigset_t* set) {
  std::uint64_t bits;
  std::memcpy(&bits, set, sizeof bits);
  return bits;
}

/// subject: the set that is waited for, and the thread.
bool signal_came(const OutsideEvent& event) {
  std::uint64_t pending = 0;
  raw_syscall(SYS_rt_sigpending, word(&pending), sizeof pending);
  const auto set = static_cast<std::uint64_t>(event.subject[0]);
  return (pending & set) != 0 ||
         (signal_waiting(static_cast<heddle::abi::ThreadIndex>(event.subject[1])) & set) != 0;
}

bool never(const OutsideEvent&) {
  return false;
}

/// Returns the signal taken out of `set`, or a negative errno.
long wait_for_signal(const sigset_t* set, siginfo_t* info, std::int64_t limit) {
  Session& run = session();
  const heddle::abi::ThreadIndex thread = run.current_index();
  const std::uint64_t bits = bits_of(set);
  const Operation operation = operation_on(nullptr, EventKind::SignalWait, call_site());
  OutsideEvent event{&signal_came, nullptr, 0, {static_cast<long>(bits), thread}};
  long result = descriptor_arrive(run, operation, event, limit);
  if (result == 0) {
    siginfo_t found{};
    result = signal_take(thread, bits);
    if (result > 0) {
      found.si_signo = static_cast<int>(result);
    } else {
      const timespec now{};
      result = raw_syscall(SYS_rt_sigtimedwait, word(&bits), word(&found), word(&now), sizeof bits);
    }
    if (info != nullptr) *info = found;
  }
  run.record(operation, 0, result > 0 ? static_cast<std::uint64_t>(result) : 0);
  return result;
}

/// Waits until a handler has run.
int wait_for_handler() {
  Session& run = session();
  const Operation operation = operation_on(nullptr, EventKind::SignalWait, call_site());
  OutsideEvent event{&never, nullptr, 0, {}};
  outside_arrive(run, operation, event);
  run.record(operation);
  errno = EINTR;
  return -1;
}

}  // namespace

HEDDLE_ENTRY pid_t wait4(pid_t child, int* status, int options, rusage* usage) {
  const Gate gate;
  const auto ask = [=](int how) {
    return raw_syscall(SYS_wait4, child, word(status), how, word(usage));
  };
  if (!gate) return static_cast<pid_t>(result_of(ask(options)));
  const idtype_t type = child > 0 ? P_PID : (child == -1 ? P_ALL : P_PGID);
  const long id = child > 0 ? child : (child == -1 ? 0 : -child);
  return static_cast<pid_t>(result_of(
      wait_for_child(type, id, (options & WNOHANG) == 0, [=] { return ask(options | WNOHANG); })));
}

HEDDLE_ENTRY pid_t waitpid(pid_t child, int* status, int options) {
  return wait4(child, status, options, nullptr);
}

HEDDLE_ENTRY pid_t wait(int* status) {
  return wait4(-1, status, 0, nullptr);
}

HEDDLE_ENTRY int waitid(idtype_t type, id_t id, siginfo_t* info, int options) {
  const Gate gate;
  if (!gate) {
    return static_cast<int>(result_of(raw_syscall(SYS_waitid, type, id, word(info), options, 0)));
  }
  const long result = wait_for_child(type, id, (options & WNOHANG) == 0, [=]() -> long {
    siginfo_t found{};
    const long error = raw_syscall(SYS_waitid, type, id, word(&found), options | WNOHANG, 0);
    if (info != nullptr) *info = found;
    return error < 0 ? error : found.si_pid;
  });
  return static_cast<int>(result_of(result > 0 ? 0 : result));
}

HEDDLE_ENTRY int sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* time) {
  const Gate gate;
  if (!gate) return real().sigtimedwait(set, info, time);
  // No time at all is a limit too: the shortest there is.
  const std::int64_t limit =
      time == nullptr ? kNoTimeLimit : (VirtualClock::nanoseconds(*time) | 1);
  return static_cast<int>(result_of(wait_for_signal(set, info, limit)));
}

HEDDLE_ENTRY int sigwaitinfo(const sigset_t* set, siginfo_t* info) {
  return sigtimedwait(set, info, nullptr);
}

HEDDLE_ENTRY int sigwait(const sigset_t* set, int* number) {
  int result = sigtimedwait(set, nullptr, nullptr);
  while (result < 0 && errno == EINTR) result = sigtimedwait(set, nullptr, nullptr);
  if (result < 0) return errno;
  *number = result;
  return 0;
}

HEDDLE_ENTRY int pause() {
  const Gate gate;
  if (!gate) return static_cast<int>(result_of(raw_syscall(SYS_pause)));
  return wait_for_handler();
}

HEDDLE_ENTRY int sigsuspend(const sigset_t* mask) {
  const Gate gate;
  if (!gate) return real().sigsuspend(mask);
  Session& run = session();
  sigset_t before{};
  signal_change_mask(run.current_index(), SIG_SETMASK, mask, &before);
  const int result = wait_for_handler();
  Gate::open();
  signal_deliver(run);
  Gate::close();
  signal_change_mask(run.current_index(), SIG_SETMASK, &before, nullptr);
  errno = EINTR;
  return result;
}
