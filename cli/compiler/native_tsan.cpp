// SPDX-License-Identifier: Apache-2.0
//
// libheddle_tsan: lets programs with objects built with -fsanitize=thread run natively without
// ThreadSanitizer's runtime. Accesses are not looked at, atomic operations are done. Under control
// Heddle's runtime is loaded before this and its entry points are found first.
#include <cstddef>

#include "abi/abi.h"

namespace tsan {
namespace {

using heddle::abi::MemoryOrder;
using heddle::abi::RmwOperation;

void start() {}
void announce_read(const void*, std::size_t, const void*) {}
void announce_write(void*, std::size_t, const void*) {}

template <typename T>
T compare_exchange(T* address, T expected, T desired, const void*) {
  return __sync_val_compare_and_swap(address, expected, desired);
}

template <typename T>
T load(T* address, MemoryOrder, const void*) {
  if constexpr (sizeof(T) == 16) {
    return __sync_val_compare_and_swap(address, T{0}, T{0});
  } else {
    return __atomic_load_n(address, __ATOMIC_SEQ_CST);
  }
}

template <typename T>
T apply(RmwOperation operation, T before, T operand) {
  switch (operation) {
    case RmwOperation::Add: return static_cast<T>(before + operand);
    case RmwOperation::Sub: return static_cast<T>(before - operand);
    case RmwOperation::And: return before & operand;
    case RmwOperation::Nand: return static_cast<T>(~(before & operand));
    case RmwOperation::Or: return before | operand;
    case RmwOperation::Xor: return before ^ operand;
    default: return operand;  // an exchange; the others have no entry point
  }
}

template <typename T>
T update(T* address, RmwOperation operation, T operand, const void* caller) {
  for (T before = load(address, MemoryOrder::SequentiallyConsistent, caller);;) {
    const T found = __sync_val_compare_and_swap(address, before, apply(operation, before, operand));
    if (found == before) return before;
    before = found;
  }
}

template <typename T>
void store(T* address, T value, MemoryOrder, const void* caller) {
  if constexpr (sizeof(T) == 16) {
    update(address, RmwOperation::Exchange, value, caller);
  } else {
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);
  }
}

void fence(MemoryOrder, const void*) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

}  // namespace
}  // namespace tsan

#include "abi/tsan_entry_points.h"
