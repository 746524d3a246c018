// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/memory/memory_model.h"
#include "runtime/memory/raw_memory.h"

namespace heddle::runtime {

/// Every access takes effect at once, in the order of the schedule.
class SequentialConsistency final : public MemoryModel {
 public:
  void begin_run() override {}
  abi::ThreadIndex blocks_access(abi::ThreadIndex, std::uint64_t, std::uint64_t) const override {
    return abi::kNoThread;
  }
  std::uint64_t load(abi::ThreadIndex, std::uint64_t address, unsigned bytes) const override {
    return read_memory(address, bytes);
  }
  void store(abi::ThreadIndex, const PendingStore& store) override {
    write_memory(store.address, store.bytes, store.value);
  }
  void order_stores(abi::ThreadIndex) override {}
  std::uint32_t pending(abi::ThreadIndex) const override { return 0; }
  std::uint32_t flush_choices(abi::ThreadIndex) const override { return 0; }
  PendingStore flush_choice(abi::ThreadIndex, std::uint32_t) const override { return {}; }
  PendingStore pending_store(abi::ThreadIndex, std::uint32_t) const override { return {}; }
  abi::ThreadIndex blocks_flush(abi::ThreadIndex, std::uint32_t) const override {
    return abi::kNoThread;
  }
  PendingStore flush(abi::ThreadIndex, std::uint32_t) override { return {}; }
};

}  // namespace heddle::runtime
