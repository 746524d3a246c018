// SPDX-License-Identifier: Apache-2.0
//
// How a program makes other processes. They are left alone.
#include "runtime/entry/children.h"

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/base/processors.h"
#include "runtime/entry/entry.h"
#include "runtime/entry/unrecorded.h"

using namespace heddle::runtime;

extern "C" int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(),
                                 void* module);

namespace {

constinit bool forked_child = false;
constinit pid_t parent = 0;

void note_child() {
  use_given_processors();
  note_unrecorded(heddle::abi::UnrecordedSource::ChildProcess);
}

void leave_child_alone() {
  if (!forked_child) parent = static_cast<pid_t>(raw_syscall(SYS_getppid));
  forked_child = true;
  session().abandon();
}

}  // namespace

namespace heddle::runtime {

// Registered before the program can register any: handlers of the child run in that order, and the
// program's must not take turns with threads that are not there.
void watch_forks() {
  __register_atfork(&note_child, nullptr, &leave_child_alone, nullptr);
}

bool is_forked_child() {
  return forked_child;
}

pid_t controlled_parent() {
  return parent;
}

}  // namespace heddle::runtime

// With vfork the child would run in the parent's memory, and take part in its schedule.
HEDDLE_ENTRY pid_t vfork() noexcept {
  return fork();
}

// They make their child without the handlers of fork.
HEDDLE_ENTRY int posix_spawn(pid_t* child, const char* path,
                             const posix_spawn_file_actions_t* actions,
                             const posix_spawnattr_t* attributes, char* const arguments[],
                             char* const environment[]) {
  note_child();
  return real().posix_spawn(child, path, actions, attributes, arguments, environment);
}

HEDDLE_ENTRY int posix_spawnp(pid_t* child, const char* file,
                              const posix_spawn_file_actions_t* actions,
                              const posix_spawnattr_t* attributes, char* const arguments[],
                              char* const environment[]) {
  note_child();
  return real().posix_spawnp(child, file, actions, attributes, arguments, environment);
}

HEDDLE_ENTRY int clone(int (*routine)(void*), void* stack, int flags, void* argument,
                       ...) noexcept {
  {
    const Gate gate;
    if (gate) session().unsupported("a thread or process made by clone()");
  }
  return real().clone(routine, stack, flags, argument);
}

// A daemon would go on in a child, out of control. It stays.
HEDDLE_ENTRY int daemon(int keeps_directory, int keeps_output) noexcept {
  if (!session().running()) return real().daemon(keeps_directory, keeps_output);
  if (keeps_directory == 0 && chdir("/") != 0) return -1;
  if (keeps_output == 0) {
    const int null = open("/dev/null", O_RDWR);
    if (null < 0) return -1;
    for (int i = 0; i < 3; ++i) dup2(null, i);
    if (null > 2) close(null);
  }
  return 0;
}
