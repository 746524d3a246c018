// SPDX-License-Identifier: Apache-2.0
//
// Threads as kernel threads, of which one at a time has the token. For debuggers and other tools
// that want to see real threads, and for kernels that do not let programs switch their FS base.
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>

#include "runtime/base/system.h"
#include "runtime/carrier/carriers.h"
#include "runtime/carrier/lender.h"

extern "C" void heddle_fiber_enter(void* stack_pointer);
/// Saves the caller's registers as heddle_fiber_switch does while `function` runs.
extern "C" void heddle_call_saved(void** save_sp, void (*function)(void*), void* argument);

namespace heddle::runtime {
namespace {

constexpr std::size_t kSignalStack = 64 << 10;

void wait_for_token(Lender& self) {
  while (__atomic_load_n(&self.token, __ATOMIC_ACQUIRE) == 0) {
    raw_syscall(SYS_futex, reinterpret_cast<long>(&self.token), FUTEX_WAIT_PRIVATE, 0);
  }
  self.token = 0;
}

void give_token(Lender& next) {
  __atomic_store_n(&next.token, 1, __ATOMIC_RELEASE);
  raw_syscall(SYS_futex, reinterpret_cast<long>(&next.token), FUTEX_WAKE_PRIVATE, 1);
}

struct Turn {
  Lender& from;
  Lender& to;
};

void pass_turn(void* argument) {
  const Turn& turn = *static_cast<const Turn*>(argument);
  give_token(turn.to);
  wait_for_token(turn.from);
}

/// Becomes the execution's thread when it is first resumed.
void run_at_turn(Lender& self) {
  self.kernel_thread = raw_syscall(SYS_gettid);
  stack_t stack{};
  stack.ss_sp = self.signal_stack;
  stack.ss_size = kSignalStack;
  sigaltstack(&stack, nullptr);
  wait_for_token(self);
  pthread_sigmask(SIG_SETMASK, &self.signal_mask, nullptr);
  heddle_fiber_enter(self.stack_pointer);
}

class KernelCarrier final : public Carrier {
 public:
  void begin_run() override {}
  // Threads made now would not outlive the fork that makes an execution.
  bool prepare(std::size_t) override { return false; }

  unsigned long create(abi::ThreadIndex thread, const StackWish& stack, Entry entry) override {
    const Slot slot = thread_slots().of(thread);
    Lender& created = lender(slot);
    created.signal_stack = own_memory(kSignalStack);
    pthread_sigmask(SIG_SETMASK, nullptr, &created.signal_mask);
    const bool made =
        created.ready != 0 ? revive_lender(created, &run_at_turn) : make_lender(slot, &run_at_turn);
    if (!made) return 0;
    if (!provide_stack(slot, stack)) return 0;
    lay_first_frame(created, stack, entry);
    return created.fs;
  }

  void switch_to(abi::ThreadIndex from, abi::ThreadIndex to) override {
    Turn turn{lender_of(from), lender_of(to)};
    heddle_call_saved(&turn.from.stack_pointer, &pass_turn, &turn);
  }

  void adopt(abi::ThreadIndex thread) override {
    Lender& adopted = lender_of(thread);
    adopted.token = 0;
    adopted.signal_stack = own_memory(kSignalStack);
    pthread_sigmask(SIG_SETMASK, nullptr, &adopted.signal_mask);
    revive_lender(adopted, &run_at_turn);
  }

  void enter(abi::ThreadIndex thread) override {
    Lender& first = lender(0);
    first.token = 0;
    if (thread != 0) {
      give_token(lender_of(thread));
      wait_for_token(first);
    }
    heddle_fiber_enter(first.stack_pointer);
    __builtin_unreachable();
  }

  const std::uint64_t* suspended_at(abi::ThreadIndex thread) const override {
    return static_cast<const std::uint64_t*>(lender_of(thread).stack_pointer);
  }
  long kernel_thread(abi::ThreadIndex thread) const override {
    return thread == 0 ? raw_syscall(SYS_getpid) : lender_of(thread).kernel_thread;
  }
};

constinit KernelCarrier the_carrier;

}  // namespace

Carrier& kernel_carrier() {
  return the_carrier;
}

void set_free(abi::ThreadIndex thread) {
  give_token(lender_of(thread));
}

}  // namespace heddle::runtime
