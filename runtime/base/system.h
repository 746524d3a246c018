// SPDX-License-Identifier: Apache-2.0
//
// System calls made without libc's wrappers: those may be interposed, by the program or by us, and
// they touch errno, which belongs to the program.
#pragma once

#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>

namespace heddle::runtime {

inline long raw_syscall(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                        long f = 0) {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

/// Waits while *word == expected; returns early on any wake-up or signal.
void futex_wait(const std::uint32_t* word, std::uint32_t expected);
void futex_wake_all(const std::uint32_t* word);

/// Anonymous private memory at exactly `address`; never returns on failure.
void* map_memory(std::size_t bytes, void* address);

/// Zeroed memory of the runtime's own, never given back. It comes from a mapping made in advance:
/// an execution that makes mappings of its own takes longer to undo.
void* own_memory(std::size_t bytes);

/// While it exists, own_memory() is that of who decides: it differs from one strategy and plan to
/// the next, and what else is allocated must not lie elsewhere for it. Not to be nested.
class PolicyMemory {
 public:
  PolicyMemory() { in_use_ = true; }
  ~PolicyMemory() { in_use_ = false; }
  PolicyMemory(const PolicyMemory&) = delete;
  PolicyMemory& operator=(const PolicyMemory&) = delete;

  static bool in_use() { return in_use_; }

 private:
  static inline constinit bool in_use_ = false;
};

/// Maps as much as most strategies and plans need. For an execution that will be undone in place:
/// else the first of them to need any would change the process's mappings, which takes longer to
/// undo than all the rest.
void reserve_policy_memory();

/// Ends the process at once, without running anything of the program's.
[[noreturn]] void exit_now(int status);

/// Writes to standard error what a person needs to know before the process ends.
void print_error(const char* text);

}  // namespace heddle::runtime
