// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/text.h"
#include "runtime/memory/memory_model.h"

namespace heddle::runtime {
namespace {

/// Every access takes effect at once, in the order of the schedule.
class SequentialConsistency final : public MemoryModel {
 public:
  std::uint64_t load(abi::ThreadIndex, const void* address, unsigned bytes) override {
    switch (bytes) {
      case 1: return *static_cast<const volatile std::uint8_t*>(address);
      case 2: return *static_cast<const volatile std::uint16_t*>(address);
      case 4: return *static_cast<const volatile std::uint32_t*>(address);
      default: return *static_cast<const volatile std::uint64_t*>(address);
    }
  }

  void store(abi::ThreadIndex, void* address, unsigned bytes, std::uint64_t value) override {
    switch (bytes) {
      case 1:
        *static_cast<volatile std::uint8_t*>(address) = static_cast<std::uint8_t>(value);
        break;
      case 2:
        *static_cast<volatile std::uint16_t*>(address) = static_cast<std::uint16_t>(value);
        break;
      case 4:
        *static_cast<volatile std::uint32_t*>(address) = static_cast<std::uint32_t>(value);
        break;
      default: *static_cast<volatile std::uint64_t*>(address) = value;
    }
  }

  void fence(abi::ThreadIndex) override {}
};

}  // namespace

MemoryModel* find_memory_model(const char* name) {
  static constinit SequentialConsistency sequential_consistency;
  return same_text(name, "sc") ? &sequential_consistency : nullptr;
}

}  // namespace heddle::runtime
