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

struct OwnRegion {
  std::uint64_t base;
  std::uint64_t bytes;
  std::uint64_t first;  // mapped at once: more than most executions need
  std::uint64_t used = 0;
  std::uint64_t mapped = 0;
  bool taken = false;  // a recorded run's threads come at any time

  void* take(std::uint64_t wanted);
};

constinit OwnRegion own_region{kOwnBase, kOwnBytes, 32 << 20};
constinit OwnRegion policy_region{kPolicyBase, kPolicyBytes, 1 << 20};

void* OwnRegion::take(std::uint64_t wanted) {
  while (__atomic_exchange_n(&taken, true, __ATOMIC_ACQUIRE)) raw_syscall(SYS_sched_yield);
  if (wanted > bytes - used) {
    print_error("heddle: the controlled run needs more memory than the runtime has for itself\n");
    exit_now(125);
  }
  if (used + wanted > mapped) {  // twice as much each time
    std::uint64_t end = mapped == 0 ? first : mapped * 2;
    while (end < used + wanted) end *= 2;
    map_memory(end - mapped, reinterpret_cast<void*>(base + mapped));
    mapped = end;
  }
  void* const memory = reinterpret_cast<void*>(base + used);
  used += wanted;
  __atomic_store_n(&taken, false, __ATOMIC_RELEASE);
  return memory;
}

}  // namespace

void* own_memory(std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  OwnRegion& region = PolicyMemory::in_use() ? policy_region : own_region;
  return region.take((bytes + kLine - 1) & ~(kLine - 1));
}

void reserve_policy_memory() {
  const PolicyMemory memory;
  own_memory(1);
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
