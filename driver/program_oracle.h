// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analysis/oracle.h"
#include "driver/program.h"
#include "driver/target.h"

namespace heddle::driver {

/// Executions of a real program, for analyses.
class ProgramOracle final : public analysis::SteeringOracle {
 public:
  /// `fails_if` as for explore. `max_events` bounds each execution.
  ProgramOracle(const Program& program, const Inputs& inputs, std::uint64_t max_events,
                std::string fails_if);
  analysis::Attempt follow(const trace::Schedule& schedule) override;
  analysis::Attempt steer(const trace::Schedule& schedule,
                          const std::vector<analysis::Order>& orders) override;
  /// Random walks and probabilistic concurrency testing, in turn.
  analysis::Attempt wander(const trace::Schedule& schedule, std::uint64_t seed) override;

 private:
  analysis::Attempt execute(abi::Options options, const trace::Schedule& schedule,
                            const std::vector<abi::PlanRecord>& plan);

  const Program& program_;
  const Inputs& inputs_;
  abi::Options options_;
  std::string fails_if_;
  Target target_;
  std::uint64_t typical_length_ = 0;  // events of the execution before
};

}  // namespace heddle::driver
