// SPDX-License-Identifier: Apache-2.0
//
// Threads as fibers on one kernel thread. Each fiber needs thread-local storage that libc and the
// program's thread_local variables can live in, and only libc can build one: so a real thread (the
// lender) is created for each, parked for ever, and its TLS and stack are borrowed by switching the
// FS base. A switch costs some 15 ns; passing a token between kernel threads costs a hundred times
// that (docs/decisions/0001-fiber-carrier.md).
//
// Lenders made before a fork do not exist in the child, but their memory does, which is all that is
// needed. Stacks have fixed addresses by thread index, so it makes no difference to the program
// whether its lender was made before the fork or on demand.
#include <asm/prctl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>

#include "runtime/base/address_space.h"
#include "runtime/base/system.h"
#include "runtime/base/text.h"
#include "runtime/carrier/carrier.h"
#include "runtime/entry/real.h"
#include "runtime/reset/changes.h"

extern "C" void heddle_fiber_switch(void** save_sp, void* next_sp, unsigned long next_fs);
extern "C" void heddle_fiber_first();

namespace heddle::runtime {
namespace {

struct Fiber {
  void* stack_pointer;
  unsigned long fs;
  std::uint32_t lender_ready;  // futex: the lender stands by
};

constinit Fiber fibers[abi::kMaxThreads] = {};
constinit std::size_t prepared = 0;  // fibers 1 ... prepared have a lender with a default stack

constexpr std::size_t kDefaultStack = 8 << 20;
constexpr std::size_t kLenderFrames = 16 << 10;  // left to the parked lender, above the fiber

unsigned long read_fs() {
  unsigned long fs;
  asm volatile("rdfsbase %0" : "=r"(fs));
  return fs;
}

void* lender_main(void* argument) {
  auto& fiber = *static_cast<Fiber*>(argument);
  fiber.fs = read_fs();
  fiber.stack_pointer = __builtin_frame_address(0);
  __atomic_store_n(&fiber.lender_ready, 1, __ATOMIC_RELEASE);
  futex_wake_all(&fiber.lender_ready);
  // Its thread-local storage is somebody else's now: this thread must never run again.
  for (;;) futex_wait(&fiber.lender_ready, 1);
}

/// Stacks end at the top of their slot: an overflow runs into the unmapped rest of it.
constexpr std::uint64_t stack_top(std::size_t index) {
  return kStackBase + (index + 1) * kStackSlot;
}

bool make_lender(std::size_t index) {
  Fiber& fiber = fibers[index];
  const std::size_t bytes = kDefaultStack + kLenderFrames;
  void* const stack = map_memory(bytes, reinterpret_cast<void*>(stack_top(index) - bytes));

  // A signal of the program's must never run on a lender.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack, bytes);
  pthread_t thread{};
  const int error = real().pthread_create(&thread, &attributes, &lender_main, &fiber);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) return false;
  while (__atomic_load_n(&fiber.lender_ready, __ATOMIC_ACQUIRE) == 0) {
    futex_wait(&fiber.lender_ready, 0);
  }
  return true;
}

/// Makes room below a default stack; what is above stays where it is.
bool extend_stack(std::size_t index, std::size_t stack_bytes) {
  constexpr std::size_t kPage = 4096;
  const std::size_t more = (stack_bytes - kDefaultStack + kPage - 1) & ~(kPage - 1);
  if (more > kStackSlot - kDefaultStack - kLenderFrames - kPage) return false;
  map_memory(more,
             reinterpret_cast<void*>(stack_top(index) - kDefaultStack - kLenderFrames - more));
  return true;
}

/// Lays out what heddle_fiber_switch pops: control words, six registers, the return address.
void lay_first_frame(Fiber& fiber, Carrier::Entry entry) {
  const auto top = (reinterpret_cast<std::uint64_t>(fiber.stack_pointer) - kLenderFrames) & ~63ull;
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
  fiber.stack_pointer = slot;
}

class FiberCarrier final : public Carrier {
 public:
  void begin_run() override {
    constexpr unsigned long kFsgsbase = 1 << 1;
    if ((getauxval(AT_HWCAP2) & kFsgsbase) == 0) {
      print_error(
          "heddle: this kernel does not let programs switch thread-local storage (FSGSBASE); a "
          "kernel from 5.9 on does\n");
      exit_now(125);
    }
    fibers[0].fs = read_fs();
  }

  void prepare(std::size_t count) override {
    if (count >= abi::kMaxThreads) count = abi::kMaxThreads - 1;
    while (prepared < count && make_lender(prepared + 1)) ++prepared;
  }

  unsigned long create(abi::ThreadIndex thread, std::size_t stack_bytes, Entry entry) override {
    Fiber& fiber = fibers[thread];
    if (thread > prepared) {
      changes().more_threads = true;
      if (!make_lender(thread)) return 0;
    }
    if (stack_bytes > kDefaultStack && !extend_stack(thread, stack_bytes)) return 0;
    lay_first_frame(fiber, entry);
    return fiber.fs;  // glibc's pthread_t is the thread pointer
  }

  void switch_to(abi::ThreadIndex from, abi::ThreadIndex to) override {
    heddle_fiber_switch(&fibers[from].stack_pointer, fibers[to].stack_pointer, fibers[to].fs);
  }
};

}  // namespace

Carrier* find_carrier(const char* name) {
  static constinit FiberCarrier fiber_carrier;
  return same_text(name, "fiber") ? &fiber_carrier : nullptr;
}

}  // namespace heddle::runtime
