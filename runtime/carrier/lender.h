// SPDX-License-Identifier: Apache-2.0
//
// Real threads, one for each thread of an execution besides the first. Only libc can build the
// thread-local storage that it and the program's thread_local variables live in: so a real thread
// is created on a stack of ours, and either lends its storage and stack to a fiber or runs the
// execution's thread itself. Either way that thread begins at the same address of the same stack,
// so that the program cannot tell which.
#pragma once

#include <signal.h>

#include <cstddef>
#include <cstdint>

#include "runtime/base/thread_slots.h"
#include "runtime/carrier/carrier.h"

namespace heddle::runtime {

struct Lender {
  void* stack_pointer;  // of the suspended thread, as heddle_fiber_switch left it
  unsigned long fs;     // its thread pointer, which is glibc's pthread_t
  std::uint32_t ready;  // futex: the real thread stands by
  std::uint32_t token;  // futex, kernel carrier: 1 when it is this thread's turn
  // kernel carrier only: for what happens on a stack that has overflowed; who runs it; its
  // creator's mask
  void* signal_stack;
  long kernel_thread;
  sigset_t signal_mask;
};

inline constexpr std::size_t kDefaultStack = 8 << 20;

extern constinit Lender lenders[kThreadSlots];
inline Lender& lender(std::size_t slot) {
  return lenders[slot];
}
inline Lender& lender_of(abi::ThreadIndex thread) {
  return lender(thread_slots().of(thread));
}

/// Creates the real thread; it calls `stand_by`, which must not return, with all signals blocked.
/// False when the system refuses.
bool make_lender(std::size_t slot, void (*stand_by)(Lender&));
/// Creates a real thread that ends at once.
void make_passing_thread();
/// The same as make_lender for one that was made before a fork: its memory is here, the real thread
/// is not. A new kernel thread takes its place. Before lay_first_frame().
bool revive_lender(Lender& lender, void (*stand_by)(Lender&));
/// Makes room below a default stack if it is not enough; what is above stays where it is.
bool provide_stack(std::size_t slot, const StackWish& stack);
/// A switch to the lender's stack pointer will call `entry`.
void lay_first_frame(Lender& lender, const StackWish& stack, Carrier::Entry entry);

}  // namespace heddle::runtime
