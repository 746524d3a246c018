// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <vector>

#include "analysis/pin/pin.h"
#include "driver/pin/places.h"
#include "driver/pin/weave.h"
#include "driver/program.h"
#include "driver/target.h"

namespace heddle::driver {

/// Whether uses of freed memory are noticed at woven places also where the failure that is looked
/// for is not said to be one.
enum class FreedMemory : bool { AsFailureSays, Watched };

struct NativeRunOptions {
  unsigned workers = 4;                     // runs at the same time
  std::chrono::milliseconds limit{20'000};  // for one run; then it is stuck
};

/// Native runs of one program with breakpoints woven into it. Any of the given sets can be run; one
/// link serves all.
class PinnedProgram final : public analysis::NativeOracle {
 public:
  /// `program` is there for its sites. Throws a user error when a place is not in it.
  PinnedProgram(const Program& program, const Inputs& inputs, const trace::PinFile& file,
                const std::vector<trace::Pins>& sets, const NativeRunOptions& options,
                const Progress& progress, FreedMemory freed = FreedMemory::AsFailureSays);

  /// With no breakpoints: the program the user built, as it is, unless its failure is one that only
  /// a derived program notices.
  analysis::NativeRuns run(const trace::Pins& pins, std::uint32_t runs) override;

  const std::filesystem::path& executable() const { return executable_; }

 private:
  void run_one(const trace::Pins& pins, analysis::NativeRuns& sum) const;

  Loom loom_;
  const Inputs& inputs_;
  trace::PinnedFailure failure_;
  bool watches_freed_;
  NativeRunOptions options_;
  std::filesystem::path original_;
  std::filesystem::path executable_;
};

}  // namespace heddle::driver
