// SPDX-License-Identifier: Apache-2.0
#include "runtime/carrier/carriers.h"

#include <sys/auxv.h>

#include "runtime/base/text.h"

namespace heddle::runtime {
namespace {

/// May a program set its own FS base? Kernels from 5.9 on allow it.
bool can_switch_storage() {
  constexpr unsigned long kFsgsbase = 1 << 1;
  return (getauxval(AT_HWCAP2) & kFsgsbase) != 0;
}

}  // namespace

Carrier* find_carrier(const char* name) {
  if (same_text(name, "kernel")) return &kernel_carrier();
  if (!same_text(name, "fiber")) return nullptr;
  return can_switch_storage() ? &fiber_carrier() : &kernel_carrier();
}

bool undoes_in_place(const char* name) {
  return find_carrier(name) == &fiber_carrier();
}

}  // namespace heddle::runtime
