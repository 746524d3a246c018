// SPDX-License-Identifier: Apache-2.0
//
// Entry points of instrumented memory accesses (abi/hooks.def). Each is: gate, turn, access,
// record.
#include "runtime/entry/accesses.h"
#include "runtime/entry/hooks.h"
#include "runtime/memory/program_code.h"

extern "C" __attribute__((visibility("default"))) constinit char HEDDLE_ABI_SYMBOL = 1;

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
