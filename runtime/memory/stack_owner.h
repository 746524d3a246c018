// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "abi/channel.h"
#include "runtime/base/address_space.h"
#include "runtime/base/thread_slots.h"

extern "C" void* __libc_stack_end;  // where the kernel left the first thread's stack pointer

namespace heddle::runtime {

/// Where main's frame begins on the first thread's stack. What the kernel put above (arguments,
/// environment, the path of what was started) takes more or less room elsewhere, but addresses of
/// main's variables are values that programs store: they have to be the same in a pack.
inline std::uint64_t first_frame() {
  constexpr std::uint64_t kGrain = 32 << 10;
  constexpr std::uint64_t kFramesOfLibc = 4 << 10;  // that call main: less than this
  return (reinterpret_cast<std::uint64_t>(__libc_stack_end) - kFramesOfLibc) / kGrain * kGrain;
}

/// The first thread's stack is where the kernel put it; arguments and environment lie above.
inline std::uint64_t first_stack_begin() {
  return first_frame() - kFirstStackBelow;
}
inline std::uint64_t first_stack_end() {
  return first_frame() + kFirstStackAbove;
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
