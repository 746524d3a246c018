// SPDX-License-Identifier: Apache-2.0
//
// What runs on the program's stack leaves its remains below it, and the program can read them: an
// uninitialised variable, a load that the compiler moved ahead of its condition, registers that a
// lazily bound call saves. A replay brings such values back only if whatever is not the same in all
// runs of a schedule (strategies, how the process came about, what it executed before) leaves none.
// docs/decisions/0014-no-remains.md
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::runtime {

/// Calls `function` where it leaves nothing: on a stack of its own, registers cleared afterwards.
/// Not to be nested, and one caller at a time.
void call_apart(void (*function)(void*), void* argument);

/// Clears every register that a function may clobber, but for the widest.
void forget_registers();

/// Clears the part of the current stack that is not in use, as far down as it was ever used. For
/// once, at the beginning.
void forget_dead_stack();

/// Before the program's first instruction: clears a little of the dead stack, and all registers.
void forget_recent();

/// Clears what a function that was just called may have left: at most `kBytes`. For once: many.
template <std::size_t kBytes>
[[gnu::always_inline]] inline void forget_long_call() {
  static_assert(kBytes % 8 == 0);
  // The runtime is compiled without red zones.
  std::uint64_t words = kBytes / 8;
  std::uint64_t to;
  asm volatile(
      "lea %c[bytes](%%rsp), %[to]\n\t"
      "rep stosq"
      : [to] "=&D"(to), "+c"(words)
      : "a"(0), [bytes] "i"(-static_cast<long>(kBytes))
      : "memory");
}

/// The same for often and few: a string instruction takes longer to begin than this as a whole.
template <std::size_t kBytes>
[[gnu::always_inline]] inline void forget_call() {
  static_assert(kBytes % 16 == 0 && kBytes <= 512);
  asm volatile(
      "pxor %%xmm0, %%xmm0\n\t"
      ".set heddle_forgotten, %c[bytes]\n\t"
      ".rept %c[bytes] / 16\n\t"
      "movups %%xmm0, -heddle_forgotten(%%rsp)\n\t"
      ".set heddle_forgotten, heddle_forgotten - 16\n\t"
      ".endr"
      :
      : [bytes] "i"(kBytes)
      : "xmm0", "memory");
}

}  // namespace heddle::runtime
