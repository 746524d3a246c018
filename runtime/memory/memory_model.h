// SPDX-License-Identifier: Apache-2.0
//
// What a load returns and when a store becomes visible: docs/memory-model.md, operationally.
// Entered only by Session, on behalf of the thread whose turn it is; knows nothing of scheduling or
// recording. A store a thread has done and others do not see yet is *pending*; which of the pending
// stores becomes visible next, and when, is the strategy's decision, so the model only says what
// could be flushed and flushes what it is told to.
#pragma once

#include <cstdint>

#include "abi/channel.h"

namespace heddle::runtime {

struct PendingStore {
  std::uint64_t address;
  std::uint64_t value;  // zero-extended
  abi::SiteId site;     // of the store
  std::uint8_t bytes;   // 1, 2, 4 or 8
  bool release;         // becomes visible after everything the thread stored before it
};

class MemoryModel {
 public:
  virtual void begin_run() = 0;

  /// Whose pending stores must become visible before `thread` can access these bytes; kNoThread if
  /// nobody's. Ask again after draining: there may be another.
  virtual abi::ThreadIndex blocks_access(abi::ThreadIndex thread, std::uint64_t address,
                                         std::uint64_t bytes) const = 0;
  /// `bytes` is 1, 2, 4 or 8; values are zero-extended. Only when nobody blocks the access.
  virtual std::uint64_t load(abi::ThreadIndex thread, std::uint64_t address,
                             unsigned bytes) const = 0;
  virtual void store(abi::ThreadIndex thread, const PendingStore& store) = 0;
  /// No later store of the thread becomes visible before the earlier ones (a release fence).
  virtual void order_stores(abi::ThreadIndex thread) = 0;

  virtual std::uint32_t pending(abi::ThreadIndex thread) const = 0;
  /// How many of the pending stores may become visible next; at least one if any is pending.
  virtual std::uint32_t flush_choices(abi::ThreadIndex thread) const = 0;
  /// One of those, counted in the order in which they were stored.
  virtual PendingStore flush_choice(abi::ThreadIndex thread, std::uint32_t choice) const = 0;
  /// The n-th of all that are pending.
  virtual PendingStore pending_store(abi::ThreadIndex thread, std::uint32_t n) const = 0;
  /// Whose pending stores must become visible before that one does; kNoThread if nobody's.
  virtual abi::ThreadIndex blocks_flush(abi::ThreadIndex thread, std::uint32_t choice) const = 0;
  /// Makes it visible.
  virtual PendingStore flush(abi::ThreadIndex thread, std::uint32_t choice) = 0;

 protected:
  ~MemoryModel() = default;
};

/// Whether a thread that does this first makes its own stores visible. Everything does but what
/// hardware lets overtake a store (docs/memory-model.md); a fence depends on its order.
constexpr bool drains(abi::EventKind kind) {
  switch (kind) {
    case abi::EventKind::None:
    case abi::EventKind::Load:
    case abi::EventKind::Store:
    case abi::EventKind::AtomicLoad:
    case abi::EventKind::AtomicStore:
    case abi::EventKind::Fence:
    case abi::EventKind::Flush: return false;
    default: return true;
  }
}

/// The memory model of that name (abi/options.def), or nullptr.
MemoryModel* find_memory_model(const char* name);

}  // namespace heddle::runtime
