// SPDX-License-Identifier: Apache-2.0
//
// Which of the proposed breakpoints bring a failure about, tried in native runs: the second half of
// BTRIGGER's methodology I. Pauses grow and breakpoints get more or less precise until nearly every
// run fails; then what is not needed is left out.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/pin/propose.h"
#include "trace/pins.h"

namespace heddle::analysis {

/// Native runs of one set of breakpoints.
struct NativeRuns {
  std::uint32_t runs = 0;
  std::uint32_t failures = 0;     // those that were to be pinned
  std::uint32_t hits = 0;         // runs in which every breakpoint was hit
  std::uint32_t failed_hits = 0;  // runs that failed and in which every breakpoint was hit
  std::uint32_t reached = 0;      // runs in which every side of every breakpoint was arrived at
  std::map<std::string, std::uint32_t> other_failures;
  std::vector<double> seconds_to_failure;
  std::vector<double> seconds_of_others;
};
NativeRuns& operator+=(NativeRuns& sum, const NativeRuns& more);

/// How an analysis gets native runs.
class NativeOracle {
 public:
  virtual ~NativeOracle() = default;
  /// Without any breakpoint: the program as it is.
  virtual NativeRuns run(const trace::Pins& pins, std::uint32_t runs) = 0;
};

struct PinOptions {
  std::uint32_t runs = 100;  // of the final measurement, with and without
  std::function<bool()> stop;
  std::function<void(std::string_view what)> progress;
};

struct TriedPins {
  std::string origin;
  std::size_t breakpoints = 0;
  double pause_ms = 0;
  std::uint32_t runs = 0;
  std::uint32_t failures = 0;
  std::uint32_t hits = 0;
};

struct Pinning {
  std::string origin;  // of `pins`; empty: none of the proposals brought the failure about
  trace::Pins pins;
  NativeRuns without;
  NativeRuns with;
  std::vector<TriedPins> tried;

  /// Runs fail because threads meet at the breakpoints. If not, pauses that end in vain delay
  /// somebody, and that is enough: the places are then no explanation.
  bool is_met() const;
};

Pinning choose_pins(NativeOracle& oracle, std::span<const PinProposal> proposals,
                    const PinOptions& options);

}  // namespace heddle::analysis
