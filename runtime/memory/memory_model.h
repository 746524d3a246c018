// SPDX-License-Identifier: Apache-2.0
//
// What a load returns and when a store becomes visible. Entered only by the running thread, at its
// turn; knows nothing of scheduling or recording. Store-buffer models keep their buffers behind
// this interface and let their flushes be scheduled as actions of their own.
#pragma once

#include <cstdint>

#include "abi/channel.h"

namespace heddle::runtime {

class MemoryModel {
 public:
  /// `bytes` is 1, 2, 4 or 8; values are zero-extended.
  virtual std::uint64_t load(abi::ThreadIndex thread, const void* address, unsigned bytes) = 0;
  virtual void store(abi::ThreadIndex thread, void* address, unsigned bytes,
                     std::uint64_t value) = 0;
  /// Makes the thread's earlier stores visible to all.
  virtual void fence(abi::ThreadIndex thread) = 0;

 protected:
  ~MemoryModel() = default;
};

/// The memory model of that name (abi/options.def), or nullptr.
MemoryModel* find_memory_model(const char* name);

}  // namespace heddle::runtime
