// SPDX-License-Identifier: Apache-2.0
//
// Entry points of instrumented memory accesses (abi/hooks.def). Each is: gate, turn, access,
// record.
#include <type_traits>

#include "runtime/base/text.h"
#include "runtime/entry/gate.h"
#include "runtime/entry/hooks.h"
#include "runtime/memory/program_code.h"
#include "runtime/memory/raw_memory.h"

extern "C" __attribute__((visibility("default"))) constinit char HEDDLE_ABI_SYMBOL = 1;

namespace heddle::runtime {
namespace {

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

template <typename T>
T apply(RmwOperation operation, T before, T operand) {
  using Signed = std::make_signed_t<T>;
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
T read_modify_write(void* address, T operand, U32 code, abi::SiteId site) {
  return update<T>(address, EventKind::AtomicRmw, site, [=](T before) {
    return apply(static_cast<RmwOperation>(code), before, operand);
  });
}

template <typename T>
T compare_exchange(void* address, T expected, T desired, abi::SiteId site) {
  return update<T>(address, EventKind::AtomicCas, site,
                   [=](T before) { return before == expected ? desired : before; });
}

void fence(MemoryOrder order, abi::SiteId site) {
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

void range(void* address, U64 bytes, EventKind kind, abi::SiteId site) {
  const Gate gate;
  if (!gate || bytes == 0) return;
  Session& run = session();
  const Operation operation = operation_on(address, kind, site);
  run.arrive(operation);
  run.settle(operation.address, bytes);
  run.record(operation, static_cast<U32>(bytes < 0xffffffff ? bytes : 0xffffffff),
             hash_bytes(address, bytes));
}

}  // namespace
}  // namespace heddle::runtime

using heddle::abi::EventKind;
using heddle::abi::MemoryOrder;
namespace rt = heddle::runtime;

#define HEDDLE_DEFINE_HOOKS(bytes, T)                                              \
  T __heddle_load##bytes(Ptr p, U32 site) {                                        \
    return rt::read<T>(p, EventKind::Load, site);                                  \
  }                                                                                \
  void __heddle_store##bytes(Ptr p, T v, U32 site) {                               \
    rt::write<T>(p, v, EventKind::Store, MemoryOrder::Relaxed, site);              \
  }                                                                                \
  T __heddle_atomic_load##bytes(Ptr p, U32, U32 site) {                            \
    return rt::read<T>(p, EventKind::AtomicLoad, site);                            \
  }                                                                                \
  void __heddle_atomic_store##bytes(Ptr p, T v, U32 order, U32 site) {             \
    rt::write<T>(p, v, EventKind::AtomicStore, MemoryOrder{order}, site);          \
  }                                                                                \
  T __heddle_atomic_rmw##bytes(Ptr p, T operand, U32 operation, U32, U32 site) {   \
    return rt::read_modify_write<T>(p, operand, operation, site);                  \
  }                                                                                \
  T __heddle_atomic_cas##bytes(Ptr p, T expected, T desired, U32, U32, U32 site) { \
    return rt::compare_exchange<T>(p, expected, desired, site);                    \
  }

HEDDLE_DEFINE_HOOKS(1, U8)
HEDDLE_DEFINE_HOOKS(2, U16)
HEDDLE_DEFINE_HOOKS(4, U32)
HEDDLE_DEFINE_HOOKS(8, U64)
#undef HEDDLE_DEFINE_HOOKS

void __heddle_fence(U32 order, U32 site) {
  const rt::Gate gate;
  if (gate) rt::fence(MemoryOrder{order}, site);
}

void __heddle_range_read(Ptr p, U64 bytes, U32 site) {
  rt::range(p, bytes, EventKind::RangeRead, site);
}

void __heddle_range_write(Ptr p, U64 bytes, U32 site) {
  rt::range(p, bytes, EventKind::RangeWrite, site);
}

// Whoever goes out with pending stores passes a fence: code without hooks must see them. It is an
// event, for before it the strategy may still flush them one by one.
void __heddle_leave(Ptr callee, U32 site) {
  const rt::Gate gate;
  if (!gate || !rt::session().has_pending()) return;
  if (rt::is_program_code(reinterpret_cast<std::uint64_t>(callee))) return;
  rt::fence(MemoryOrder::SequentiallyConsistent, site);
}
