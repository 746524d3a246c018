// SPDX-License-Identifier: Apache-2.0
//
// Where a thread has its stack, its thread-local storage and its heap: in a slot that follows from
// its path. Threads are numbered as they are created, which two threads that both create some may
// do in any order; the addresses that a thread sees are the same whatever the order.
//
// Children of the first thread and, up to a point, their children have slots of their own. All
// others share the rest by hash: should two of them meet, who comes first decides.
#pragma once

#include <cstdint>

#include "abi/channel.h"

namespace heddle::runtime {

using Slot = std::uint16_t;
/// The last one is nobody's: the runtime's own arena.
inline constexpr Slot kThreadSlots = abi::kMaxThreads - 1;

class ThreadSlots {
 public:
  constexpr bool all_taken() const { return taken_ == kThreadSlots - 1; }
  /// Gives the thread one: it is the `ordinal`-th child of `parent`.
  constexpr Slot take(abi::ThreadIndex thread, abi::ThreadIndex parent, std::uint32_t ordinal,
                      std::uint64_t hash) {
    Slot slot = preferred(of(parent), ordinal, hash);
    while (is_taken(slot)) slot = slot + 1 < kThreadSlots ? slot + 1 : 1;
    slots_[thread] = slot;
    threads_[slot] = thread;
    ++taken_;
    return slot;
  }
  constexpr void give_back(abi::ThreadIndex thread) {
    threads_[slots_[thread]] = 0;
    slots_[thread] = 0;
    --taken_;
  }

  constexpr Slot of(abi::ThreadIndex thread) const { return slots_[thread]; }
  /// 0, the first thread, where there is none: its own stack and storage are elsewhere.
  constexpr abi::ThreadIndex thread_in(std::uint64_t slot) const { return threads_[slot]; }

 private:
  static constexpr Slot kChildren = 512;  // of the first thread; behind them, their children
  static constexpr Slot kParents = 16;
  static constexpr Slot kPerParent = 16;
  static constexpr Slot kOthers = kChildren + kParents * kPerParent;

  static constexpr Slot preferred(Slot parent, std::uint32_t ordinal, std::uint64_t hash) {
    if (parent == 0 && ordinal < kChildren) return static_cast<Slot>(ordinal);
    if (parent != 0 && parent <= kParents && ordinal <= kPerParent) {
      return static_cast<Slot>(kChildren + (parent - 1) * kPerParent + ordinal - 1);
    }
    return static_cast<Slot>(kOthers + hash % (kThreadSlots - kOthers));
  }
  constexpr bool is_taken(Slot slot) const { return threads_[slot] != 0; }

  Slot slots_[abi::kMaxThreads] = {};
  abi::ThreadIndex threads_[abi::kMaxThreads] = {};
  std::uint32_t taken_ = 0;
};

/// Those of this execution.
inline ThreadSlots& thread_slots() {
  static constinit ThreadSlots slots;
  return slots;
}

}  // namespace heddle::runtime
