// SPDX-License-Identifier: Apache-2.0
//
// Stands in front of syscall(), through which the C++ libraries reach futexes. What the runtime
// controls under another name is controlled here too; everything else goes to the kernel as it is.
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <initializer_list>

#include "runtime/entry/entry.h"
#include "runtime/entry/kernel_result.h"
#include "runtime/sync/futex.h"

using namespace heddle::runtime;

namespace {

struct Arguments {
  long a, b, c, d, e, f;
};

template <typename T>
T* pointer(long argument) {
  return reinterpret_cast<T*>(argument);
}

long futex(const Arguments& to) {
  const Gate gate;
  if (!gate) return raw_syscall(SYS_futex, to.a, to.b, to.c, to.d, to.e, to.f);
  const FutexCall call{pointer<std::uint32_t>(to.a),     static_cast<int>(to.b),
                       static_cast<std::uint32_t>(to.c), pointer<const timespec>(to.d),
                       pointer<std::uint32_t>(to.e),     static_cast<std::uint32_t>(to.f)};
  return futex_call(session(), call, call_site());
}

void refuse(const char* what) {
  const Gate gate;
  if (gate) session().unsupported(what);
}

}  // namespace

HEDDLE_ENTRY long syscall(long number, ...) noexcept {
  // The caller says nowhere how many arguments it gave: all six are read, as the kernel does.
  va_list list;
  va_start(list, number);
  Arguments to{};
  for (long* argument : {&to.a, &to.b, &to.c, &to.d, &to.e, &to.f}) *argument = va_arg(list, long);
  va_end(list);
  switch (number) {
    case SYS_futex: return result_of(futex(to));
    case SYS_gettid: return gettid();
    case SYS_getpid: return getpid();
    case SYS_getppid: return getppid();
    case SYS_kill: return kill(static_cast<pid_t>(to.a), static_cast<int>(to.b));
    case SYS_tgkill:
      return tgkill(static_cast<pid_t>(to.a), static_cast<pid_t>(to.b), static_cast<int>(to.c));
    case SYS_tkill: return tgkill(getpid(), static_cast<pid_t>(to.a), static_cast<int>(to.b));
    case SYS_fork:
    case SYS_vfork: return fork();
    case SYS_clone:
      if (to.a == SIGCHLD) return fork();
      refuse("a thread or process made by the system call clone");
      break;
    case SYS_clone3: refuse("a thread or process made by the system call clone3"); break;
    case SYS_io_uring_setup: refuse("io_uring"); break;
    case SYS_sched_yield: return sched_yield();
    case SYS_pause: return pause();
    case SYS_flock: return flock(static_cast<int>(to.a), static_cast<int>(to.b));
    case SYS_read:
      return read(static_cast<int>(to.a), pointer<void>(to.b), static_cast<std::size_t>(to.c));
    case SYS_write:
      return write(static_cast<int>(to.a), pointer<const void>(to.b),
                   static_cast<std::size_t>(to.c));
    case SYS_poll:
      return poll(pointer<pollfd>(to.a), static_cast<nfds_t>(to.b), static_cast<int>(to.c));
    case SYS_clock_gettime:
      return clock_gettime(static_cast<clockid_t>(to.a), pointer<timespec>(to.b));
    case SYS_getrandom:
      return getrandom(pointer<void>(to.a), static_cast<std::size_t>(to.b),
                       static_cast<unsigned>(to.c));
    case SYS_nanosleep: return nanosleep(pointer<const timespec>(to.a), pointer<timespec>(to.b));
    case SYS_clock_nanosleep: {
      const int error = clock_nanosleep(static_cast<clockid_t>(to.a), static_cast<int>(to.b),
                                        pointer<const timespec>(to.c), pointer<timespec>(to.d));
      return result_of(-error);
    }
    default: break;
  }
  return result_of(raw_syscall(number, to.a, to.b, to.c, to.d, to.e, to.f));
}
