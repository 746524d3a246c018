// SPDX-License-Identifier: Apache-2.0
//
// The stores of one thread that the others do not see yet, in the order in which it did them. One
// list serves both models: under TSO only its first entry may leave; under PSO any entry may that
// no earlier one overlaps, which for accesses that do not overlap partly is one queue a location.
#pragma once

#include <cstdint>

#include "runtime/memory/memory_model.h"

namespace heddle::runtime {

enum class FlushOrder { AsStored, PerLocation };

class StoreBuffer {
 public:
  /// About what hardware has. A search through it stays short, and a thread that stores in a loop
  /// becomes visible at some time even if nobody ever chooses to flush it.
  static constexpr std::uint32_t kCapacity = 64;

  std::uint32_t size() const { return size_; }
  bool full() const { return size_ == kCapacity; }
  void clear() { size_ = 0; }

  /// Not when full.
  void push(const PendingStore& store);
  /// What is pushed from now on leaves after what is there.
  void order() { ++epoch_; }

  /// The n-th of them.
  const PendingStore& at(std::uint32_t n) const { return entries_[n].store; }
  std::uint32_t choices(FlushOrder order) const;
  /// The n-th of those that may leave.
  const PendingStore& choice(FlushOrder order, std::uint32_t n) const;
  PendingStore take(FlushOrder order, std::uint32_t n);

  enum class Forwarding {
    None,     // nothing pending there
    Whole,    // the youngest store there has all bytes asked for
    Partial,  // it has some of them only: no hardware forwards from it
  };
  Forwarding find(std::uint64_t address, std::uint64_t bytes, std::uint64_t& value) const;

 private:
  struct Entry {
    PendingStore store;
    std::uint32_t epoch;  // how many release fences came before it
  };

  bool may_leave(FlushOrder order, std::uint32_t position) const;
  std::uint32_t position_of(FlushOrder order, std::uint32_t n) const;

  Entry entries_[kCapacity] = {};
  std::uint32_t size_ = 0;
  std::uint32_t epoch_ = 0;
};

}  // namespace heddle::runtime
