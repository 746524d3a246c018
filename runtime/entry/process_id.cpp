// SPDX-License-Identifier: Apache-2.0
//
// The ids of runtime/base/process_id.h, where a program asks for them and where it hands them back.
// Children go on natively and have real ids, but what they remember of their parent is its shown
// one.
#include "runtime/entry/process_id.h"

#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/base/processors.h"
#include "runtime/entry/children.h"
#include "runtime/entry/entry.h"
#include "runtime/reset/changes.h"

using namespace heddle::runtime;
namespace abi = heddle::abi;

namespace {

/// Who the shown id stands for: this process, or the controlled one that this is a child of.
pid_t controlled_process() {
  return is_forked_child() ? controlled_parent() : real_process_id();
}

/// As the program knows it.
pid_t shown_id(pid_t id) {
  if (session().one_at_a_time()) return id == real_process_id() ? session().process_id() : id;
  return is_forked_child() && id == controlled_parent() ? kProcessId : id;
}

template <typename Function>
Function next(Function, const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

namespace heddle::runtime {

pid_t real_id(pid_t id) {
  if (!session().one_at_a_time() && !is_forked_child()) return id;
  if (id < -1) return -real_id(-id);  // a process group is named by its leader
  if (id == kParentId && session().one_at_a_time()) {
    return static_cast<pid_t>(raw_syscall(SYS_getppid));
  }
  const bool told = session().one_at_a_time() && id == session().process_id();
  return told || is_shown_id(id) ? controlled_process() : id;
}

}  // namespace heddle::runtime

#define NEXT(name) next(&::name, #name)

HEDDLE_ENTRY pid_t getpid() noexcept {
  return session().process_id();
}

HEDDLE_ENTRY pid_t getppid() noexcept {
  if (session().one_at_a_time()) return kParentId;
  return shown_id(static_cast<pid_t>(raw_syscall(SYS_getppid)));
}

HEDDLE_ENTRY pid_t getpgid(pid_t process) noexcept {
  static const auto real = NEXT(getpgid);
  return shown_id(real(real_id(process)));
}

HEDDLE_ENTRY pid_t getpgrp() noexcept {
  return getpgid(0);
}

HEDDLE_ENTRY int setpgid(pid_t process, pid_t group) noexcept {
  static const auto real = NEXT(setpgid);
  changes().obstacle = abi::ResetObstacle::ProcessState;
  return real(real_id(process), real_id(group));
}

HEDDLE_ENTRY pid_t getsid(pid_t process) noexcept {
  static const auto real = NEXT(getsid);
  return shown_id(real(real_id(process)));
}

HEDDLE_ENTRY pid_t setsid() noexcept {
  static const auto real = NEXT(setsid);
  changes().obstacle = abi::ResetObstacle::ProcessState;
  return shown_id(real());
}

HEDDLE_ENTRY int sched_getaffinity(pid_t process, std::size_t bytes, cpu_set_t* set) noexcept {
  static const auto real = NEXT(sched_getaffinity);
  const pid_t id = real_id(process);
  if (id != 0 && id != real_process_id()) return real(id, bytes, set);
  const long got = given_processors(bytes, set);
  if (got < 0) {
    errno = static_cast<int>(-got);
    return -1;
  }
  memset(reinterpret_cast<unsigned char*>(set) + got, 0, bytes - static_cast<std::size_t>(got));
  return 0;
}

HEDDLE_ENTRY int sched_setaffinity(pid_t process, std::size_t bytes,
                                   const cpu_set_t* set) noexcept {
  static const auto real = NEXT(sched_setaffinity);
  changes().obstacle = abi::ResetObstacle::ProcessState;
  forget_given_processors();
  return real(real_id(process), bytes, set);
}

HEDDLE_ENTRY int sched_getscheduler(pid_t process) noexcept {
  static const auto real = NEXT(sched_getscheduler);
  return real(real_id(process));
}

HEDDLE_ENTRY int sched_getparam(pid_t process, sched_param* parameters) noexcept {
  static const auto real = NEXT(sched_getparam);
  return real(real_id(process), parameters);
}
