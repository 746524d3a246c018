// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/remains.h"

#include <sys/mman.h>

#include "runtime/base/system.h"

extern "C" void heddle_call_apart(void (*function)(void*), void* argument, void* stack_top);
extern "C" void heddle_forget_registers();

namespace heddle::runtime {
namespace {

constexpr std::size_t kStackBytes = 64 << 10;
alignas(64) constinit char stack[kStackBytes] = {};

constexpr std::uint64_t kPage = 4096;
/// Below the first thread's stack nothing is mapped for at least 128 MB.
constexpr std::uint64_t kDeepest = 4 << 20;

/// Asked once, in the process that executions come from: it may cost a virtual machine
/// microseconds.
bool has_xrstor() {
  enum class Answer { None, No, Yes };
  static constinit Answer answer = Answer::None;
  if (answer == Answer::None) {
    constexpr unsigned kOsXsave = 1u << 27;
    unsigned a = 1, b = 0, c = 0, d = 0;
    asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    answer = (c & kOsXsave) != 0 ? Answer::Yes : Answer::No;
  }
  return answer == Answer::Yes;
}

}  // namespace

void call_apart(void (*function)(void*), void* argument) {
  heddle_call_apart(function, argument, stack + kStackBytes);
}

void forget_registers() {
  heddle_forget_registers();
}

__attribute__((noinline)) void forget_dead_stack() {
  has_xrstor();
  const std::uint64_t here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  const std::uint64_t end = (here & ~(kPage - 1)) - kPage;
  raw_syscall(SYS_madvise, static_cast<long>(end - kDeepest), static_cast<long>(kDeepest),
              MADV_DONTNEED);
  forget_long_call<2 * kPage>();
}

// xrstor from an area that says "as after a reset" for all components. Protection keys (bit 9) are
// no remains; a processor without xrstor has no registers that heddle_forget_registers does not
// clear.
__attribute__((noinline)) void forget_recent() {
  struct alignas(64) {
    std::uint16_t x87_control = 0x37f;
    std::uint16_t reserved[11] = {};
    std::uint32_t mxcsr = 0x1f80;
    std::uint32_t reserved2 = 0;
    std::uint64_t rest[68] = {};
  } constexpr static initial;
  if (has_xrstor()) asm volatile("xrstor64 %0" : : "m"(initial), "a"(0xe7), "d"(0));
  forget_long_call<kPage>();
  heddle_forget_registers();
}

}  // namespace heddle::runtime
