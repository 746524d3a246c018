// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/system.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "runtime/base/address_space.h"

namespace heddle::runtime {

// Not FUTEX_PRIVATE: the channel's state word is shared between processes.
void futex_wait(const std::uint32_t* word, std::uint32_t expected) {
  raw_syscall(SYS_futex, reinterpret_cast<long>(word), FUTEX_WAIT, expected);
}

void futex_wake_all(const std::uint32_t* word) {
  raw_syscall(SYS_futex, reinterpret_cast<long>(word), FUTEX_WAKE, 0x7fffffff);
}

namespace {
constinit std::uint64_t own_memory_used = 0;
}  // namespace

void* own_memory(std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  bytes = (bytes + kLine - 1) & ~(kLine - 1);
  if (own_memory_used == 0) map_memory(kOwnBytes, reinterpret_cast<void*>(kOwnBase));
  if (bytes > kOwnBytes - own_memory_used) {
    print_error("heddle: the controlled run needs more memory than the runtime has for itself\n");
    exit_now(125);
  }
  void* const memory = reinterpret_cast<void*>(kOwnBase + own_memory_used);
  own_memory_used += bytes;
  return memory;
}

void* map_memory(std::size_t bytes, void* address) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  const long result = raw_syscall(SYS_mmap, reinterpret_cast<long>(address),
                                  static_cast<long>(bytes), PROT_READ | PROT_WRITE, flags, -1, 0);
  void* const memory = reinterpret_cast<void*>(result);
  if (result < 0 || memory != address) {
    print_error("heddle: no memory for the controlled run (is a limit on virtual memory set?)\n");
    exit_now(125);
  }
  return memory;
}

void exit_now(int status) {
  for (;;) raw_syscall(SYS_exit_group, status);
}

void print_error(const char* text) {
  raw_syscall(SYS_write, STDERR_FILENO, reinterpret_cast<long>(text),
              static_cast<long>(std::strlen(text)));
}

}  // namespace heddle::runtime
