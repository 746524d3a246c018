// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "abi/channel.h"
#include "runtime/base/address_space.h"
#include "runtime/base/thread_slots.h"

extern "C" void* __libc_stack_end;  // where the kernel left the first thread's stack pointer

namespace heddle::runtime {

/// The first thread's stack is where the kernel put it; arguments and environment lie above.
inline std::uint64_t first_stack_begin() {
  return reinterpret_cast<std::uint64_t>(__libc_stack_end) - kFirstStackBelow;
}
inline std::uint64_t first_stack_end() {
  return reinterpret_cast<std::uint64_t>(__libc_stack_end) + kFirstStackAbove;
}

/// Whose stack (or thread-local storage, which lies on it) the address is in; kNoThread: nobody's.
inline abi::ThreadIndex stack_owner(std::uint64_t address) {
  if (address - kStackBase < abi::kMaxThreads * kStackSlot) {
    return thread_slots().thread_in((address - kStackBase) / kStackSlot);
  }
  const bool in_first = address - first_stack_begin() < first_stack_end() - first_stack_begin();
  return in_first ? abi::ThreadIndex{0} : abi::kNoThread;
}

}  // namespace heddle::runtime
