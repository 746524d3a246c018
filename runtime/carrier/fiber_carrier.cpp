// SPDX-License-Identifier: Apache-2.0
//
// Threads as fibers on one kernel thread. Each borrows the stack and the thread-local storage of a
// real thread (lender.h), which is parked for ever: a switch changes the stack pointer and the FS
// base. It costs some 15 ns; passing a token between kernel threads costs a hundred times that
// (docs/decisions/0001-fiber-carrier.md).
//
// Lenders made before a fork do not exist in the child, but their memory does, which is all that is
// needed.
#include <pthread.h>

#include "runtime/base/system.h"
#include "runtime/carrier/carriers.h"
#include "runtime/carrier/lender.h"
#include "runtime/reset/changes.h"

extern "C" void heddle_fiber_switch(void** save_sp, void* next_sp, unsigned long next_fs);

namespace heddle::runtime {
namespace {

/// Its thread-local storage is somebody else's now: this thread must never run again.
void park(Lender& self) {
  for (;;) futex_wait(&self.ready, 1);
}

class FiberCarrier final : public Carrier {
 public:
  void begin_run() override { lender(0).fs = reinterpret_cast<unsigned long>(pthread_self()); }

  bool prepare(std::size_t slot) override {
    return lender(slot).ready == 0 && make_lender(slot, &park);
  }

  unsigned long create(abi::ThreadIndex thread, const StackWish& stack, Entry entry) override {
    const Slot slot = thread_slots().of(thread);
    if (lender(slot).ready == 0) {
      changes().more_threads = true;
      if (!make_lender(slot, &park)) return 0;
    }
    if (!provide_stack(slot, stack)) return 0;
    lay_first_frame(lender(slot), stack, entry);
    return lender(slot).fs;
  }

  void switch_to(abi::ThreadIndex from, abi::ThreadIndex to) override {
    Lender& next = lender_of(to);
    heddle_fiber_switch(&lender_of(from).stack_pointer, next.stack_pointer, next.fs);
  }

  void adopt(abi::ThreadIndex) override {}
  void enter(abi::ThreadIndex thread) override {
    const Lender& next = lender_of(thread);
    void* ignored;
    heddle_fiber_switch(&ignored, next.stack_pointer, next.fs);
    __builtin_unreachable();
  }

  const std::uint64_t* suspended_at(abi::ThreadIndex thread) const override {
    return static_cast<const std::uint64_t*>(lender_of(thread).stack_pointer);
  }
  long kernel_thread(abi::ThreadIndex) const override { return raw_syscall(SYS_getpid); }
};

constinit FiberCarrier the_carrier;

}  // namespace

Carrier& fiber_carrier() {
  return the_carrier;
}

}  // namespace heddle::runtime
