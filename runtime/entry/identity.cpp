// SPDX-License-Identifier: Apache-2.0
//
// Who and where a thread is, as far as libc and the kernel would say. All threads of a controlled
// run share one kernel thread, but programs (libc++abi's guards among them) tell threads apart by
// these numbers.
#include <sched.h>
#include <unistd.h>

#include "runtime/entry/entry.h"

using namespace heddle::runtime;

// What a recorded run did with its process id (name a file, begin a sequence of random numbers) its
// replay does again.
HEDDLE_ENTRY pid_t getpid() noexcept {
  const pid_t told = session().running() ? session().told().process() : 0;
  return told != 0 ? told : static_cast<pid_t>(raw_syscall(SYS_getpid));
}

/// The main thread's id is the process's, as with the kernel; the others follow in order of birth.
HEDDLE_ENTRY pid_t gettid() noexcept {
  if (!session().running()) return static_cast<pid_t>(raw_syscall(SYS_gettid));
  return getpid() + session().current_index();
}

HEDDLE_ENTRY int sched_getcpu() noexcept {
  if (session().running()) return 0;
  unsigned cpu = 0;
  raw_syscall(SYS_getcpu, reinterpret_cast<long>(&cpu));
  return static_cast<int>(cpu);
}

HEDDLE_ENTRY int getcpu(unsigned* cpu, unsigned* node) noexcept {
  if (cpu != nullptr) *cpu = static_cast<unsigned>(sched_getcpu());
  if (node != nullptr) *node = 0;
  return 0;
}
