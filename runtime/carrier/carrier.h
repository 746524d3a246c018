// SPDX-License-Identifier: Apache-2.0
//
// How a chosen thread is made to run while all others stand still. Knows no algorithm: Session says
// who, the carrier makes it so.
#pragma once

#include <cstddef>
#include <cstdint>

#include "abi/channel.h"

namespace heddle::runtime {

struct StackWish {
  std::size_t bytes = 0;   // at least
  void* lowest = nullptr;  // memory of the program's own, if it gave some
};

class Carrier {
 public:
  using Entry = void (*)();

  /// Called once, by the first thread, before any other call.
  virtual void begin_run() = 0;
  /// Gets ready to carry a thread in `slot`, so that create() need not; true if there was something
  /// to do. Called in the process from which executions are forked.
  virtual bool prepare(std::size_t slot) = 0;
  /// A new thread, in the slot it was given (base/thread_slots.h), that will run `entry` on that
  /// stack when first resumed. Returns its pthread_t, or 0 when the system refuses.
  virtual unsigned long create(abi::ThreadIndex thread, const StackWish& stack, Entry entry) = 0;
  /// Suspends `from` (the caller) and resumes `to`; returns when somebody resumes `from`.
  virtual void switch_to(abi::ThreadIndex from, abi::ThreadIndex to) = 0;
  /// Gets ready to carry a thread that was suspended in another process, whose memory this one has.
  /// Not called for the first thread.
  virtual void adopt(abi::ThreadIndex thread) = 0;
  /// Resumes `thread` from where none runs: the first thread is suspended too. Never returns.
  [[noreturn]] virtual void enter(abi::ThreadIndex thread) = 0;
  /// The stack pointer of a thread that is not running, as heddle_fiber_switch left it.
  virtual const std::uint64_t* suspended_at(abi::ThreadIndex thread) const = 0;
  /// The kernel thread that runs `thread` when it runs.
  virtual long kernel_thread(abi::ThreadIndex thread) const = 0;

 protected:
  ~Carrier() = default;
};

/// The carrier of that name (abi/options.def), or nullptr. Where fibers are not possible, "fiber"
/// is the kernel carrier: the events of a run are the same under both.
Carrier* find_carrier(const char* name);
/// True if all threads of that carrier live on one kernel thread, so that an execution can be
/// undone in its process.
bool undoes_in_place(const char* name);

}  // namespace heddle::runtime
