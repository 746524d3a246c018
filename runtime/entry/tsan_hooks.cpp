// SPDX-License-Identifier: Apache-2.0
//
// Entry points of objects built with -fsanitize=thread: their accesses take turns like those that
// heddle-cc instruments. Only the program itself knows what it is about to write, so plain writes
// are recorded when they have been done (Session::announce_write).
#include "runtime/entry/accesses.h"
#include "runtime/entry/call_site.h"

namespace tsan {
namespace {

namespace abi = heddle::abi;
namespace rt = heddle::runtime;
using abi::EventKind;
using abi::MemoryOrder;
using abi::RmwOperation;

/// Whatever the program calls next is called by code that does not say where it is.
abi::SiteId site_of(const void* caller) {
  HEDDLE_CALL_SITE_SYMBOL = abi::kUnknownSite;
  return rt::code_site(caller);
}

bool is_one_word(std::size_t bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

void start() {
  const rt::Gate gate;
  if (!gate || rt::session().is_sequentially_consistent()) return;
  rt::session().unsupported(
      "objects built with -fsanitize=thread do their plain accesses themselves, so that stores "
      "cannot be delayed: use --memory-model sc, or build with heddle-cc");
}

void announce_read(const void* address, std::size_t bytes, const void* caller) {
  void* const place = const_cast<void*>(address);
  const abi::SiteId site = site_of(caller);
  switch (bytes) {
    case 1: rt::read<std::uint8_t>(place, EventKind::Load, site); break;
    case 2: rt::read<std::uint16_t>(place, EventKind::Load, site); break;
    case 4: rt::read<std::uint32_t>(place, EventKind::Load, site); break;
    case 8: rt::read<std::uint64_t>(place, EventKind::Load, site); break;
    default: rt::range(place, bytes, EventKind::RangeRead, site);
  }
}

void announce_write(void* address, std::size_t bytes, const void* caller) {
  if (!is_one_word(bytes)) {
    rt::range(address, bytes, EventKind::RangeWrite, site_of(caller));
    return;
  }
  const rt::Gate gate;
  if (!gate) return;
  rt::Session& run = rt::session();
  const rt::Operation operation = rt::operation_on(address, EventKind::Store, site_of(caller));
  run.arrive(operation);
  run.announce_write(operation, static_cast<unsigned>(bytes));
}

/// 16 bytes at once, which no event can hold: hashes stand for them.
template <typename Change>
rt::Unsigned128 update_wide(rt::Unsigned128* address, EventKind kind, const void* caller,
                            Change change) {
  const rt::Gate gate;
  rt::Unsigned128 before = *address;
  if (!gate) {
    for (;;) {
      const auto found = __sync_val_compare_and_swap(address, before, change(before));
      if (found == before) return before;
      before = found;
    }
  }
  rt::Session& run = rt::session();
  const rt::Operation operation = rt::operation_on(address, kind, site_of(caller));
  run.arrive(operation);
  before = *address;
  const rt::Unsigned128 after = change(before);
  *address = after;
  run.record(operation, sizeof after, rt::hash_bytes(&before, sizeof before),
             kind == EventKind::AtomicLoad ? 0 : rt::hash_bytes(&after, sizeof after));
  return before;
}

template <typename T>
T load(T* address, MemoryOrder, const void* caller) {
  if constexpr (sizeof(T) == 16) {
    return update_wide(address, EventKind::AtomicLoad, caller, [](T before) { return before; });
  } else {
    return rt::read<T>(address, EventKind::AtomicLoad, site_of(caller));
  }
}

template <typename T>
void store(T* address, T value, MemoryOrder order, const void* caller) {
  if constexpr (sizeof(T) == 16) {
    update_wide(address, EventKind::AtomicRmw, caller, [=](T) { return value; });
  } else {
    rt::write<T>(address, value, EventKind::AtomicStore, order, site_of(caller));
  }
}

template <typename T>
T update(T* address, RmwOperation operation, T operand, const void* caller) {
  if constexpr (sizeof(T) == 16) {
    return update_wide(address, EventKind::AtomicRmw, caller,
                       [=](T before) { return rt::apply<T>(operation, before, operand); });
  } else {
    return rt::read_modify_write<T>(address, operand, static_cast<std::uint32_t>(operation),
                                    site_of(caller));
  }
}

template <typename T>
T compare_exchange(T* address, T expected, T desired, const void* caller) {
  if constexpr (sizeof(T) == 16) {
    return update_wide(address, EventKind::AtomicCas, caller,
                       [=](T before) { return before == expected ? desired : before; });
  } else {
    return rt::compare_exchange<T>(address, expected, desired, site_of(caller));
  }
}

void fence(MemoryOrder order, const void* caller) {
  const rt::Gate gate;
  if (gate) rt::fence(order, site_of(caller));
}

}  // namespace
}  // namespace tsan

#include "abi/tsan_entry_points.h"
