// SPDX-License-Identifier: Apache-2.0
//
// What instrumented memory accesses come down to, whoever inserted them: gate, turn, access,
// record.
#pragma once

#include <type_traits>

#include "runtime/base/text.h"
#include "runtime/entry/gate.h"
#include "runtime/memory/raw_memory.h"

namespace heddle::runtime {

using abi::EventKind;
using abi::MemoryOrder;
using abi::RmwOperation;

template <typename T>
T read(void* address, EventKind kind, abi::SiteId site) {
  const Gate gate;
  if (!gate) return *static_cast<volatile T*>(address);
  Session& run = session();
  const Operation operation = operation_on(address, kind, site);
  run.arrive(operation);
  const std::uint64_t value = run.load(operation.address, sizeof(T));
  run.record(operation, sizeof(T), value);
  return static_cast<T>(value);
}

template <typename T>
void write(void* address, T value, EventKind kind, MemoryOrder order, abi::SiteId site) {
  const Gate gate;
  if (!gate) {
    *static_cast<volatile T*>(address) = value;
    return;
  }
  Session& run = session();
  const Operation operation = operation_on(address, kind, site);
  run.arrive(operation);
  run.store(operation, sizeof(T), value, order >= MemoryOrder::Release);
  run.record(operation, sizeof(T), value);
  // On hardware with store buffers the compiler puts a fence behind a sequentially consistent
  // store, or makes it an exchange.
  if (order == MemoryOrder::SequentiallyConsistent) run.drain(run.current_index());
}

__extension__ typedef __int128 Signed128;
__extension__ typedef unsigned __int128 Unsigned128;

template <typename T>
struct SignedOf : std::make_signed<T> {};
template <>
struct SignedOf<Unsigned128> {
  using type = Signed128;
};

template <typename T>
T apply(RmwOperation operation, T before, T operand) {
  using Signed = typename SignedOf<T>::type;
  switch (operation) {
    case RmwOperation::Exchange: return operand;
    case RmwOperation::Add: return static_cast<T>(before + operand);
    case RmwOperation::Sub: return static_cast<T>(before - operand);
    case RmwOperation::And: return before & operand;
    case RmwOperation::Nand: return static_cast<T>(~(before & operand));
    case RmwOperation::Or: return before | operand;
    case RmwOperation::Xor: return before ^ operand;
    case RmwOperation::Max:
      return static_cast<Signed>(before) > static_cast<Signed>(operand) ? before : operand;
    case RmwOperation::Min:
      return static_cast<Signed>(before) < static_cast<Signed>(operand) ? before : operand;
    case RmwOperation::UnsignedMax: return before > operand ? before : operand;
    case RmwOperation::UnsignedMin: return before < operand ? before : operand;
  }
  __builtin_trap();
}

/// Reads, lets `change` compute what to write, writes, as one step of the schedule.
template <typename T, typename Change>
T update(void* address, EventKind kind, abi::SiteId site, Change change) {
  const Gate gate;
  if (!gate) {
    auto* const target = static_cast<T*>(address);
    T before = __atomic_load_n(target, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(target, &before, change(before), false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST)) {
    }
    return before;
  }
  Session& run = session();
  const Operation operation = operation_on(address, kind, site);
  run.arrive(operation);
  // A locked instruction on the hardware: nothing stays pending across it (arrive has drained), and
  // it acts on memory itself.
  run.settle(operation.address, sizeof(T));
  const auto before = static_cast<T>(read_memory(operation.address, sizeof(T)));
  const T after = change(before);
  write_memory(operation.address, sizeof(T), after);
  run.record(operation, sizeof(T), before, after);
  return before;
}

template <typename T>
T read_modify_write(void* address, T operand, std::uint32_t code, abi::SiteId site) {
  return update<T>(address, EventKind::AtomicRmw, site, [=](T before) {
    return apply(static_cast<RmwOperation>(code), before, operand);
  });
}

template <typename T>
T compare_exchange(void* address, T expected, T desired, abi::SiteId site) {
  return update<T>(address, EventKind::AtomicCas, site,
                   [=](T before) { return before == expected ? desired : before; });
}

inline void fence(MemoryOrder order, abi::SiteId site) {
  Session& run = session();
  const Operation operation = operation_on(nullptr, EventKind::Fence, site);
  run.arrive(operation);
  if (order == MemoryOrder::SequentiallyConsistent) {
    run.drain(run.current_index());
  } else if (order >= MemoryOrder::Release) {
    run.order_stores();
  }
  run.record(operation, 0, static_cast<std::uint64_t>(order));
}

inline void range(void* address, std::uint64_t bytes, EventKind kind, abi::SiteId site) {
  const Gate gate;
  if (!gate || bytes == 0) return;
  Session& run = session();
  const Operation operation = operation_on(address, kind, site);
  run.arrive(operation);
  run.settle(operation.address, bytes);
  // What is about to be overwritten means nothing, and on a fresh stack it is different each time.
  const std::uint64_t value = kind == EventKind::RangeRead ? hash_bytes(address, bytes) : 0;
  run.record(operation, static_cast<std::uint32_t>(bytes < 0xffffffff ? bytes : 0xffffffff), value);
}

}  // namespace heddle::runtime
