// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/debugger.h"

#define HEDDLE_DEBUG __attribute__((visibility("default"), used))

extern "C" {
HEDDLE_DEBUG constinit std::uint64_t __heddle_debug_stop_at = ~std::uint64_t{0};
HEDDLE_DEBUG constinit const std::uint64_t* __heddle_debug_position = nullptr;
HEDDLE_DEBUG constinit unsigned long __heddle_debug_threads[heddle::abi::kMaxThreads] = {};
HEDDLE_DEBUG constinit std::uint64_t __heddle_debug_enabled[heddle::abi::kMaxThreads / 64] = {};
HEDDLE_DEBUG constinit std::uint64_t __heddle_debug_other = heddle::abi::kNoThread;
HEDDLE_DEBUG constinit std::uint64_t __heddle_debug_choices[heddle::abi::kMaxThreads] = {};
HEDDLE_DEBUG constinit std::uint64_t __heddle_debug_value = ~std::uint64_t{0};
HEDDLE_DEBUG constinit const char* __heddle_debug_ending = nullptr;

HEDDLE_DEBUG __attribute__((noinline)) void __heddle_debug_stop() {
  asm volatile("");  // a call to an empty function would be dropped
}
}

namespace heddle::runtime {
namespace {
constinit bool debugged = false;
}  // namespace

void debugger_begin(const abi::ChannelHeader& channel) {
  __heddle_debug_position = &channel.events.count;
  if (channel.debug_stop == 0) return;
  debugged = true;
  __heddle_debug_stop_at = channel.debug_stop - 1;
}

abi::ThreadIndex debugger_stop(const ThreadSet& enabled) {
  for (std::uint64_t& word : __heddle_debug_enabled) word = 0;
  enabled.for_each([](abi::ThreadIndex thread) {
    __heddle_debug_enabled[thread / 64] |= std::uint64_t{1} << (thread % 64);
  });
  __heddle_debug_other = abi::kNoThread;
  __heddle_debug_value = ~std::uint64_t{0};
  __heddle_debug_stop();
  return static_cast<abi::ThreadIndex>(__atomic_load_n(&__heddle_debug_other, __ATOMIC_RELAXED));
}

void debugger_ending(const char* why) {
  if (!debugged) return;
  __heddle_debug_ending = why;
  __heddle_debug_stop();
}

}  // namespace heddle::runtime
