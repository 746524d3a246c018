// SPDX-License-Identifier: Apache-2.0
//
// Total and partial store order: a store waits in its thread's buffer until it is flushed, and the
// thread reads its own pending stores. The two differ in what may be flushed next (FlushOrder).
//
// A thread's stores to its own stack are not buffered: the compiler reuses that memory for
// variables whose accesses are not instrumented, and a flush would come upon them. Instead,
// whatever another thread does to that stack makes its owner's stores visible first, so nobody can
// tell.
#pragma once

#include "runtime/memory/store_buffer.h"

namespace heddle::runtime {

class StoreBufferModel final : public MemoryModel {
 public:
  explicit constexpr StoreBufferModel(FlushOrder order) : order_(order) {}

  void begin_run() override;
  abi::ThreadIndex blocks_access(abi::ThreadIndex thread, std::uint64_t address,
                                 std::uint64_t bytes) const override;
  std::uint64_t load(abi::ThreadIndex thread, std::uint64_t address, unsigned bytes) const override;
  void store(abi::ThreadIndex thread, const PendingStore& store) override;
  void order_stores(abi::ThreadIndex thread) override;
  std::uint32_t pending(abi::ThreadIndex thread) const override;
  std::uint32_t flush_choices(abi::ThreadIndex thread) const override;
  PendingStore flush_choice(abi::ThreadIndex thread, std::uint32_t choice) const override;
  PendingStore pending_store(abi::ThreadIndex thread, std::uint32_t n) const override;
  abi::ThreadIndex blocks_flush(abi::ThreadIndex thread, std::uint32_t choice) const override;
  PendingStore flush(abi::ThreadIndex thread, std::uint32_t choice) override;

 private:
  const FlushOrder order_;
};

}  // namespace heddle::runtime
