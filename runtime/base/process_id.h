// SPDX-License-Identifier: Apache-2.0
//
// A controlled program is told the same process id in every execution: programs seed random numbers
// with it, keep it in memory and print it. Nobody else has such an id (Linux gives none from 2^22
// on), so that wherever a program hands it back it can be told from those of other processes. The
// ids of its threads follow in order of birth. In the replay of a recorded run it is the id that
// the program had then: it may have named a file by it.
#pragma once

#include <sys/types.h>

#include "abi/channel.h"
#include "runtime/base/system.h"

namespace heddle::runtime {

inline constexpr pid_t kProcessId = 0x500000;
inline constexpr pid_t kParentId = kProcessId - 1;

inline pid_t real_process_id() {
  return static_cast<pid_t>(raw_syscall(SYS_getpid));
}

inline bool is_shown_id(pid_t id) {
  return id >= kProcessId && id < kProcessId + static_cast<pid_t>(abi::kMaxThreads);
}

}  // namespace heddle::runtime
