// SPDX-License-Identifier: Apache-2.0
#include "runtime/carrier/lender.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "runtime/base/address_space.h"
#include "runtime/base/system.h"
#include "runtime/entry/real.h"

extern "C" void heddle_fiber_first();

namespace heddle::runtime {

alignas(4096) constinit Lender lenders[kThreadSlots] = {};

namespace {

constinit void (*after_start)(Lender&) = nullptr;

constexpr std::size_t kLenderFrames = 16 << 10;  // left to the real thread, above the borrowed part

void* lender_main(void* argument) {
  auto& self = *static_cast<Lender*>(argument);
  self.fs = reinterpret_cast<unsigned long>(pthread_self());
  self.stack_pointer = __builtin_frame_address(0);
  void (*const stand_by)(Lender&) = after_start;
  __atomic_store_n(&self.ready, 1, __ATOMIC_RELEASE);
  futex_wake_all(&self.ready);
  stand_by(self);
  __builtin_trap();
}

int revived_main(void* argument) {
  after_start(*static_cast<Lender*>(argument));
  __builtin_trap();
}

/// Stacks end at the top of their slot: an overflow runs into the unmapped rest of it.
constexpr std::uint64_t stack_top(std::size_t slot) {
  return kStackBase + (slot + 1) * kStackSlot;
}

}  // namespace

bool make_lender(std::size_t slot, void (*stand_by)(Lender&)) {
  Lender& made = lenders[slot];
  const std::size_t bytes = kDefaultStack + kLenderFrames;
  void* const stack = map_memory(bytes, reinterpret_cast<void*>(stack_top(slot) - bytes));
  after_start = stand_by;

  // A signal of the program's must not run on a thread that only stands by.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack, bytes);
  pthread_t thread{};
  const int error = real().pthread_create(&thread, &attributes, &lender_main, &made);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) return false;
  while (__atomic_load_n(&made.ready, __ATOMIC_ACQUIRE) == 0) futex_wait(&made.ready, 0);
  return true;
}

void make_passing_thread() {
  constexpr std::size_t kBytes = 256 << 10;
  const PolicyMemory memory;  // other processes do without: nothing of theirs may lie elsewhere
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, own_memory(kBytes), kBytes);
  pthread_t thread{};
  const int error =
      real().pthread_create(&thread, &attributes, [](void* nothing) { return nothing; }, nullptr);
  pthread_attr_destroy(&attributes);
  if (error == 0) real().pthread_join(thread, nullptr);
}

// libc would not do: it knows the thread as one that runs already.
bool revive_lender(Lender& lender, void (*stand_by)(Lender&)) {
  constexpr int kFlags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                         CLONE_SYSVSEM | CLONE_SETTLS;
  const auto top = reinterpret_cast<std::uint64_t>(lender.stack_pointer) & ~15ull;
  after_start = stand_by;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int thread = clone(&revived_main, reinterpret_cast<void*>(top), kFlags, &lender, nullptr,
                           reinterpret_cast<void*>(lender.fs), nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread > 0;
}

bool provide_stack(std::size_t slot, const StackWish& stack) {
  constexpr std::size_t kPage = 4096;
  if (stack.lowest != nullptr || stack.bytes <= kDefaultStack) return true;
  const std::size_t more = (stack.bytes - kDefaultStack + kPage - 1) & ~(kPage - 1);
  if (more > kStackSlot - kDefaultStack - kLenderFrames - kPage) return false;
  map_memory(more, reinterpret_cast<void*>(stack_top(slot) - kDefaultStack - kLenderFrames - more));
  return true;
}

// What heddle_fiber_switch pops: control words, six registers, the return address.
void lay_first_frame(Lender& lender, const StackWish& stack, Carrier::Entry entry) {
  const auto end = stack.lowest == nullptr
                       ? reinterpret_cast<std::uint64_t>(lender.stack_pointer) - kLenderFrames
                       : reinterpret_cast<std::uint64_t>(stack.lowest) + stack.bytes;
  const std::uint64_t top = end & ~63ull;
  auto* slot = reinterpret_cast<std::uint64_t*>(top);
  *--slot = 0;  // heddle_fiber_first's own return address: none; keeps the ABI's alignment
  *--slot = 0;
  *--slot = reinterpret_cast<std::uint64_t>(&heddle_fiber_first);
  *--slot = 0;                                       // rbp
  *--slot = reinterpret_cast<std::uint64_t>(entry);  // rbx
  for (int i = 0; i < 4; ++i) *--slot = 0;           // r12 ... r15
  std::uint32_t mxcsr;
  std::uint16_t x87;
  asm volatile("stmxcsr %0" : "=m"(mxcsr));
  asm volatile("fnstcw %0" : "=m"(x87));
  *--slot = mxcsr | std::uint64_t{x87} << 32;
  lender.stack_pointer = slot;
}

}  // namespace heddle::runtime
