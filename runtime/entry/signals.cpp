// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/signals.h"
#include "runtime/reset/changes.h"

#include <cerrno>

#include "runtime/base/process_id.h"
#include "runtime/entry/entry.h"
#include "runtime/reset/changes.h"

using namespace heddle::runtime;

HEDDLE_ENTRY int pthread_kill(pthread_t handle, int number) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_kill(handle, number);
  return signal_send(session(), handle, number, call_site());
}

/// Thread ids are those gettid() gives.
HEDDLE_ENTRY int tgkill(pid_t process, pid_t thread, int number) {
  if (session().running() && !Gate::closed() && process == kProcessId) {
    const auto index = static_cast<std::uint32_t>(thread - kProcessId);
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
  if (number == SIGABRT) return static_cast<int>(real().raise(number));
  const int error = pthread_kill(pthread_self(), number);
  if (error == 0) return 0;
  errno = error;
  return -1;
}
