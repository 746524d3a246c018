// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analysis/oracle.h"
#include "driver/program.h"
#include "driver/target.h"

namespace heddle::driver {

/// Executions of a real program, for analyses.
class ProgramOracle final : public analysis::Oracle {
 public:
  /// `fails_if` as for explore. `max_events` bounds each execution.
  ProgramOracle(const Program& program, const Inputs& inputs, std::uint64_t max_events,
                std::string fails_if);
  analysis::Attempt follow(const trace::Schedule& schedule) override;

 private:
  const Program& program_;
  const Inputs& inputs_;
  abi::Options options_;
  std::string fails_if_;
  Target target_;
};

}  // namespace heddle::driver
