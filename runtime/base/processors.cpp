// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/processors.h"

#include <errno.h>
#include <string.h>

#include "runtime/base/system.h"

namespace heddle::runtime {
namespace {

constexpr std::size_t kMostBytes = 1024;
alignas(8) constinit unsigned char given[kMostBytes] = {};
constinit long given_bytes = 0;  // 0: not remembered

long ask_kernel(std::size_t bytes, void* set) {
  return raw_syscall(SYS_sched_getaffinity, 0, static_cast<long>(bytes),
                     reinterpret_cast<long>(set));
}

}  // namespace

void remember_given_processors() {
  const long bytes = ask_kernel(kMostBytes, given);
  given_bytes = bytes > 0 ? bytes : 0;
}

long given_processors(std::size_t bytes, void* set) {
  if (given_bytes == 0) return ask_kernel(bytes, set);
  if (bytes < static_cast<std::size_t>(given_bytes)) return -EINVAL;
  memcpy(set, given, static_cast<std::size_t>(given_bytes));
  return given_bytes;
}

void use_given_processors() {
  if (given_bytes == 0) return;
  raw_syscall(SYS_sched_setaffinity, 0, given_bytes, reinterpret_cast<long>(given));
}

void forget_given_processors() {
  given_bytes = 0;
}

}  // namespace heddle::runtime
