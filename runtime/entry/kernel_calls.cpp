// SPDX-License-Identifier: Apache-2.0
//
// Stands in front of calls that change what the kernel holds for the process, to note that they
// were made (runtime/reset/changes.h). None is changed or recorded: of memory shared with others a
// recording says that there was some.
#include <dlfcn.h>
#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cstring>

#include "runtime/base/system.h"
#include "runtime/entry/unrecorded.h"
#include "runtime/reset/changes.h"
#include "runtime/reset/keeper.h"
#include "runtime/session/session.h"

#define HEDDLE_ENTRY extern "C" __attribute__((visibility("default")))

using namespace heddle::runtime;
using heddle::abi::ResetObstacle;
using heddle::abi::UnrecordedSource;

namespace {

/// Who the process is to the kernel, but for further groups it is in: those can be put back.
class Identity {
 public:
  Identity() {
    raw_syscall(SYS_getresuid, word(&users_[0]), word(&users_[1]), word(&users_[2]));
    raw_syscall(SYS_getresgid, word(&groups_[0]), word(&groups_[1]), word(&groups_[2]));
  }

  bool operator==(const Identity& that) const {
    return std::memcmp(users_, that.users_, sizeof users_) == 0 &&
           std::memcmp(groups_, that.groups_, sizeof groups_) == 0;
  }

 private:
  static long word(void* memory) { return reinterpret_cast<long>(memory); }

  uid_t users_[3] = {};
  gid_t groups_[3] = {};
};

std::uint64_t number(const void* address) {
  return reinterpret_cast<std::uint64_t>(address);
}

template <typename Function>
Function next(Function, const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#define NEXT(name) next(&::name, #name)

HEDDLE_ENTRY void* mmap(void* address, std::size_t bytes, int protection, int flags, int file,
                        off_t offset) noexcept {
  static const auto real = NEXT(mmap);
  if ((flags & MAP_SHARED) != 0 && (protection & PROT_WRITE) != 0 && file >= 0)
    note_unrecorded(UnrecordedSource::SharedMemory);
  const bool fixed = (flags & MAP_FIXED) != 0;
  if (fixed) session().complete_write();
  note_changed_mappings(fixed ? number(address) : 0, fixed ? bytes : 0);
  return real(address, bytes, protection, flags, file, offset);
}

HEDDLE_ENTRY void* mmap64(void* address, std::size_t bytes, int protection, int flags, int file,
                          off64_t offset) noexcept {
  return mmap(address, bytes, protection, flags, file, offset);
}

HEDDLE_ENTRY int munmap(void* address, std::size_t bytes) noexcept {
  static const auto real = NEXT(munmap);
  session().complete_write();
  note_changed_mappings(number(address), bytes);
  return real(address, bytes);
}

HEDDLE_ENTRY void* mremap(void* address, std::size_t bytes, std::size_t new_bytes, int flags,
                          ...) noexcept {
  static const auto real = NEXT(mremap);
  session().complete_write();
  va_list arguments;
  va_start(arguments, flags);
  void* const wanted = (flags & MREMAP_FIXED) != 0 ? va_arg(arguments, void*) : nullptr;
  va_end(arguments);
  note_changed_mappings(number(address), bytes);
  if (wanted != nullptr) note_changed_mappings(number(wanted), new_bytes);
  return real(address, bytes, new_bytes, flags, wanted);
}

HEDDLE_ENTRY int mprotect(void* address, std::size_t bytes, int protection) noexcept {
  static const auto real = NEXT(mprotect);
  session().complete_write();
  note_changed_mappings(number(address), bytes);
  return real(address, bytes, protection);
}

HEDDLE_ENTRY int madvise(void* address, std::size_t bytes, int advice) noexcept {
  static const auto real = NEXT(madvise);
  session().complete_write();
  note_dropped_pages(number(address), bytes);
  return real(address, bytes, advice);
}

HEDDLE_ENTRY int brk(void* address) noexcept {
  static const auto real = NEXT(brk);
  note_changed_mappings(0, 0);
  return real(address);
}

HEDDLE_ENTRY void* sbrk(std::ptrdiff_t bytes) noexcept {
  static const auto real = NEXT(sbrk);
  if (bytes != 0) note_changed_mappings(0, 0);
  return real(bytes);
}

HEDDLE_ENTRY void* shmat(int memory, const void* address, int flags) noexcept {
  static const auto real = NEXT(shmat);
  note_unrecorded(UnrecordedSource::SharedMemory);
  note_changed_mappings(0, 0);
  return real(memory, address, flags);
}

#define NOTES_SIGNAL(name)                                                    \
  HEDDLE_ENTRY sighandler_t name(int number, sighandler_t handler) noexcept { \
    static const auto real = NEXT(name);                                      \
    changes().signals = true;                                                 \
    return real(number, handler);                                             \
  }
NOTES_SIGNAL(sysv_signal)
NOTES_SIGNAL(ssignal)
#undef NOTES_SIGNAL

// libc's wrappers tell every thread it knows, by a signal; those that lend their storage to fibers
// cannot answer. The kernel is asked for this thread, which is all of them.
#define CHANGES_IDENTITY(name, parameters, ...)                                               \
  HEDDLE_ENTRY int name parameters noexcept {                                                 \
    const Identity before;                                                                    \
    const int result = session().running()                                                    \
                           ? static_cast<int>(syscall(SYS_##name __VA_OPT__(, ) __VA_ARGS__)) \
                           : NEXT(name)(__VA_ARGS__);                                         \
    if (!(Identity() == before)) changes().obstacle = ResetObstacle::ProcessState;            \
    return result;                                                                            \
  }
CHANGES_IDENTITY(setuid, (uid_t user), user)
CHANGES_IDENTITY(setgid, (gid_t group), group)
CHANGES_IDENTITY(setreuid, (uid_t real, uid_t effective), real, effective)
CHANGES_IDENTITY(setregid, (gid_t real, gid_t effective), real, effective)
CHANGES_IDENTITY(setresuid, (uid_t real, uid_t effective, uid_t saved), real, effective, saved)
CHANGES_IDENTITY(setresgid, (gid_t real, gid_t effective, gid_t saved), real, effective, saved)
#undef CHANGES_IDENTITY

HEDDLE_ENTRY int setgroups(std::size_t count, const gid_t* groups) noexcept {
  const int result = session().running() ? static_cast<int>(syscall(SYS_setgroups, count, groups))
                                         : NEXT(setgroups)(count, groups);
  if (result == 0) changes().groups = true;
  return result;
}

HEDDLE_ENTRY int seteuid(uid_t user) noexcept {
  return setresuid(static_cast<uid_t>(-1), user, static_cast<uid_t>(-1));
}

HEDDLE_ENTRY int setegid(gid_t group) noexcept {
  return setresgid(static_cast<gid_t>(-1), group, static_cast<gid_t>(-1));
}

#define CANNOT_BE_UNDONE(name, parameters, ...)       \
  HEDDLE_ENTRY int name parameters noexcept {         \
    static const auto real = NEXT(name);              \
    changes().obstacle = ResetObstacle::ProcessState; \
    return real(__VA_ARGS__);                         \
  }
CANNOT_BE_UNDONE(chroot, (const char* path), path)
CANNOT_BE_UNDONE(unshare, (int flags), flags)
CANNOT_BE_UNDONE(nice, (int step), step)
CANNOT_BE_UNDONE(mlockall, (int flags), flags)
CANNOT_BE_UNDONE(mlock, (const void* address, std::size_t bytes), address, bytes)
CANNOT_BE_UNDONE(setpriority, (__priority_which_t which, id_t who, int priority), which, who,
                 priority)
#undef CANNOT_BE_UNDONE

#define CHANGES_LIMITS(name, type)                                                         \
  HEDDLE_ENTRY int name(__rlimit_resource_t resource, const struct type* limit) noexcept { \
    static const auto real = NEXT(name);                                                   \
    changes().limits = true;                                                               \
    return real(resource, limit);                                                          \
  }
CHANGES_LIMITS(setrlimit, rlimit)
CHANGES_LIMITS(setrlimit64, rlimit64)
#undef CHANGES_LIMITS

HEDDLE_ENTRY int prctl(int option, ...) noexcept {
  static const auto real = reinterpret_cast<int (*)(int, ...)>(dlsym(RTLD_NEXT, "prctl"));
  va_list list;
  va_start(list, option);
  unsigned long arguments[4];
  for (unsigned long& argument : arguments) argument = va_arg(list, unsigned long);
  va_end(list);
  // A thread's name is the one setting that programs make as a matter of course.
  const bool harmless = option == PR_SET_NAME || option == PR_GET_NAME || option == PR_GET_DUMPABLE;
  if (!harmless) changes().obstacle = ResetObstacle::ProcessState;
  return real(option, arguments[0], arguments[1], arguments[2], arguments[3]);
}
