// SPDX-License-Identifier: Apache-2.0
//
// Stands in front of the calls that lock files, and of those that change what becomes of a
// descriptor when a program is executed, because one of them does both. A lock of fcntl belongs to
// the process, one of flock or of an "open file description" to what was opened: two threads can
// wait for each other only for these.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdarg>

#include "runtime/entry/entry.h"
#include "runtime/entry/kernel_result.h"
#include "runtime/entry/unrecorded.h"
#include "runtime/reset/changes.h"
#include "runtime/sync/attempt.h"

using namespace heddle::runtime;

namespace {

/// subject: descriptor and operation. There is no way to ask but to take it: nobody else runs.
bool file_is_free(const OutsideEvent& event) {
  if (raw_syscall(SYS_flock, event.subject[0], event.subject[1] | LOCK_NB) == -EWOULDBLOCK) {
    return false;
  }
  raw_syscall(SYS_flock, event.subject[0], LOCK_UN);
  return true;
}

constexpr bool is_owned_by_file(int command) {
  return command == F_OFD_SETLKW || command == F_OFD_SETLK;
}

/// subject: descriptor and request.
template <int kAsk>
bool range_is_free(const OutsideEvent& event) {
  struct flock asked = *reinterpret_cast<const struct flock*>(event.subject[1]);
  const long error = raw_syscall(SYS_fcntl, event.subject[0], kAsk, reinterpret_cast<long>(&asked));
  return error < 0 || asked.l_type == F_UNLCK;
}

long lock_range(int descriptor, int command, struct flock* range, heddle::abi::SiteId site) {
  const bool waits = command == F_SETLKW || command == F_OFD_SETLKW;
  const int now = is_owned_by_file(command) ? F_OFD_SETLK : F_SETLK;
  OutsideEvent event{
      is_owned_by_file(command) ? &range_is_free<F_OFD_GETLK> : &range_is_free<F_GETLK>,
      nullptr,
      0,
      {descriptor, reinterpret_cast<long>(range)}};
  return attempt_until_done(session(), event, waits ? kNoTimeLimit : 0, -EAGAIN, site, [=] {
    const long result = raw_syscall(SYS_fcntl, descriptor, now, reinterpret_cast<long>(range));
    return result == -EACCES ? -EAGAIN : result;
  });
}

}  // namespace

HEDDLE_ENTRY int flock(int descriptor, int operation) noexcept {
  const Gate gate;
  if (!gate) return int_result_of(raw_syscall(SYS_flock, descriptor, operation));
  const bool waits = (operation & (LOCK_NB | LOCK_UN)) == 0;
  OutsideEvent event{&file_is_free, nullptr, 0, {descriptor, operation}};
  return int_result_of(
      attempt_until_done(session(), event, waits ? kNoTimeLimit : 0, -EWOULDBLOCK, call_site(),
                         [=] { return raw_syscall(SYS_flock, descriptor, operation | LOCK_NB); }));
}

namespace {

int control(int descriptor, int command, long argument, heddle::abi::SiteId site) {
  if (command == F_SETFD) changes().descriptor_flags = true;
  switch (command) {
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_SETLK:
    case F_OFD_SETLKW: {
      const Gate gate;
      if (!gate) break;
      return int_result_of(
          lock_range(descriptor, command, reinterpret_cast<struct flock*>(argument), site));
    }
    case F_GETOWN: {  // which may be a negative number
      static const auto next =
          reinterpret_cast<int (*)(int, int, ...)>(dlsym(RTLD_NEXT, "fcntl64"));
      return next(descriptor, command);
    }
    default: break;
  }
  return int_result_of(raw_syscall(SYS_fcntl, descriptor, command, argument));
}

}  // namespace

HEDDLE_ENTRY int fcntl64(int descriptor, int command, ...) {
  va_list list;
  va_start(list, command);
  const long argument = va_arg(list, long);
  va_end(list);
  return control(descriptor, command, argument, call_site());
}

HEDDLE_ENTRY int fcntl(int descriptor, int command, ...) {
  va_list list;
  va_start(list, command);
  const long argument = va_arg(list, long);
  va_end(list);
  return control(descriptor, command, argument, call_site());
}

namespace {

int lock_from_here(int descriptor, int command, off64_t bytes, heddle::abi::SiteId site) {
  struct flock range{};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_CUR;
  range.l_len = bytes;
  const long argument = reinterpret_cast<long>(&range);
  switch (command) {
    case F_LOCK: return control(descriptor, F_SETLKW, argument, site);
    case F_TLOCK: return control(descriptor, F_SETLK, argument, site);
    case F_ULOCK: range.l_type = F_UNLCK; return control(descriptor, F_SETLK, argument, site);
    case F_TEST:
      if (control(descriptor, F_GETLK, argument, site) != 0) return -1;
      return range.l_type == F_UNLCK || range.l_pid == raw_syscall(SYS_getpid)
                 ? 0
                 : int_result_of(-EACCES);
    default: return int_result_of(-EINVAL);
  }
}

}  // namespace

HEDDLE_ENTRY int lockf64(int descriptor, int command, off64_t bytes) {
  return lock_from_here(descriptor, command, bytes, call_site());
}

HEDDLE_ENTRY int lockf(int descriptor, int command, off_t bytes) {
  return lock_from_here(descriptor, command, bytes, call_site());
}

/// They tell the descriptor something, and learn nothing.
static bool only_sets(unsigned long request) {
  return request == FIONBIO || request == FIOCLEX || request == FIONCLEX || request == FIOASYNC;
}

HEDDLE_ENTRY int ioctl(int descriptor, unsigned long request, ...) noexcept {
  va_list list;
  va_start(list, request);
  const long argument = va_arg(list, long);
  va_end(list);
  if (request == FIOCLEX || request == FIONCLEX) changes().descriptor_flags = true;
  if (!only_sets(request))
    note_unrecorded(heddle::abi::UnrecordedSource::DeviceControl, descriptor);
  return int_result_of(raw_syscall(SYS_ioctl, descriptor, static_cast<long>(request), argument));
}
