// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/signals.h"

#include <unistd.h>

#include <cerrno>

#include "runtime/entry/entry.h"
#include "runtime/entry/kernel_result.h"
#include "runtime/entry/process_id.h"
#include "runtime/reset/changes.h"

using namespace heddle::runtime;

HEDDLE_ENTRY int pthread_kill(pthread_t handle, int number) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_kill(handle, number);
  return signal_send(session(), handle, number, call_site());
}

/// Thread ids are those gettid() gives.
HEDDLE_ENTRY int tgkill(pid_t process, pid_t thread, int number) {
  const pid_t self = session().process_id();
  if (session().running() && !Gate::closed() && process == self) {
    const auto index = static_cast<std::uint32_t>(thread - self);
    const bool exists = index < session().thread_count();
    const int error =
        exists ? pthread_kill(session().thread(static_cast<std::uint16_t>(index)).handle, number)
               : ESRCH;
    if (error == 0) return 0;
    errno = error;
    return -1;
  }
  const long result = raw_syscall(SYS_tgkill, process, thread, number);
  if (result >= 0) return 0;
  errno = static_cast<int>(-result);
  return -1;
}

namespace {

/// To the program itself: for whichever of its threads is willing. A signal that is the program's
/// end, or none, is the kernel's to send.
int send_to_self(const siginfo_t& info, heddle::abi::SiteId site) {
  Session& run = session();
  const Operation operation = operation_on(nullptr, heddle::abi::EventKind::ThreadSignal, site);
  run.arrive(operation);
  run.record(operation, 0, heddle::abi::kNoThread, static_cast<std::uint64_t>(info.si_signo));
  signal_post(run, info, heddle::abi::kNoThread);
  return 0;
}

siginfo_t info_of(int number, int code) {
  siginfo_t info{};
  info.si_signo = number;
  info.si_code = code;
  info.si_pid = getpid();
  info.si_uid = static_cast<uid_t>(raw_syscall(SYS_getuid));
  return info;
}

bool is_to_self(pid_t process, int number) {
  return process == getpid() && number > 0 && number <= 64 && signal_is_handled(number);
}

}  // namespace

HEDDLE_ENTRY int kill(pid_t process, int number) noexcept {
  const Gate gate;
  if (!gate || !session().one_at_a_time() || !is_to_self(process, number)) {
    return int_result_of(raw_syscall(SYS_kill, real_id(process), number));
  }
  return send_to_self(info_of(number, SI_USER), call_site());
}

HEDDLE_ENTRY int sigqueue(pid_t process, int number, const sigval value) noexcept {
  const Gate gate;
  siginfo_t info = info_of(number, SI_QUEUE);
  info.si_value = value;
  if (!gate || !session().one_at_a_time() || !is_to_self(process, number)) {
    return int_result_of(
        raw_syscall(SYS_rt_sigqueueinfo, real_id(process), number, reinterpret_cast<long>(&info)));
  }
  return send_to_self(info, call_site());
}

HEDDLE_ENTRY int pthread_sigmask(int how, const sigset_t* change, sigset_t* before) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_sigmask(how, change, before);
  return signal_change_mask(session().current_index(), how, change, before);
}

HEDDLE_ENTRY int sigprocmask(int how, const sigset_t* change, sigset_t* before) noexcept {
  const int error = pthread_sigmask(how, change, before);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

HEDDLE_ENTRY int sigaction(int number, const struct sigaction* action,
                           struct sigaction* before) noexcept {
  if (action != nullptr) changes().signals = true;
  const Gate gate;
  if (!gate) return real().sigaction(number, action, before);
  return signal_set_action(number, action, before);
}

/// As libc's: BSD semantics.
HEDDLE_ENTRY sighandler_t signal(int number, sighandler_t handler) noexcept {
  struct sigaction action{}, before{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, number);
  if (sigaction(number, &action, &before) != 0) return SIG_ERR;
  return before.sa_handler;
}

HEDDLE_ENTRY int raise(int number) noexcept {
  if (!session().running() || Gate::closed()) {
    const long process = raw_syscall(SYS_getpid);
    return static_cast<int>(raw_syscall(SYS_tgkill, process, raw_syscall(SYS_gettid), number));
  }
  // Synchronous by its nature: handled before it returns.
  if (number == SIGABRT) return real().raise(number);
  const int error = pthread_kill(pthread_self(), number);
  if (error == 0) return 0;
  errno = error;
  return -1;
}
