// SPDX-License-Identifier: Apache-2.0
//
// Whatever a core holds, reading it and walking its stacks ends in stacks or in a heddle::Error.
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "ir/core_file.h"
#include "ir/stack_walk.h"

namespace {

/// The core's files are not opened: which ones it names is up to the fuzzer.
class WithoutFiles final : public heddle::ir::MachineState {
 public:
  explicit WithoutFiles(const heddle::ir::CoreFile& core) : core_(core) {}
  const std::vector<Mapping>& mappings() const override { return none_; }
  const std::vector<Thread>& threads() const override { return core_.threads(); }
  std::size_t read(std::uint64_t address, std::span<char> to) const override {
    return core_.read(address, to);
  }

 private:
  const heddle::ir::CoreFile& core_;
  std::vector<Mapping> none_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const heddle::ir::CoreFile core({reinterpret_cast<const char*>(data), size}, "fuzz");
    core.program();
    for (const auto& mapping : core.mappings()) heddle::ir::loaded_build_id(core, mapping.begin);
    heddle::ir::walk_stacks(WithoutFiles(core), "", "");
  } catch (const heddle::Error&) {
  }
  return 0;
}
