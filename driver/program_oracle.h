// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <string>

#include "analysis/oracle.h"
#include "driver/outcome.h"
#include "driver/program.h"
#include "driver/stems.h"
#include "driver/target_pool.h"

namespace heddle::driver {

/// Executions of a real program, for analyses.
class ProgramOracle final : public analysis::SteeringOracle, public analysis::ReducingOracle {
 public:
  /// `fails_if` as for explore. `max_events` bounds each execution, `max_followed` those that
  /// follow a schedule: one that leads nowhere should not cost more than the run it came from. Up
  /// to `workers` at once.
  ProgramOracle(const Program& program, const Inputs& inputs, std::uint64_t max_events,
                std::uint64_t max_followed, std::string fails_if, unsigned workers = 1);
  analysis::Attempt follow(const trace::Schedule& schedule) override;
  analysis::Attempt steer(const trace::Schedule& schedule,
                          const std::vector<analysis::Order>& orders) override;
  /// Random walks and probabilistic concurrency testing, in turn.
  analysis::Attempt wander(const trace::Schedule& schedule, std::uint64_t seed) override;
  analysis::Attempt delay(const trace::Schedule& schedule, std::uint64_t seed) override;
  bool tells_loops() const override;
  unsigned parallel() const override { return pool_.size(); }
  std::vector<analysis::Attempt> follow_all(
      std::span<const analysis::BoundedSchedule> schedules) override;
  analysis::Attempt run_sequentially(const trace::Schedule& schedule, std::uint64_t order,
                                     const analysis::Common& common) override;
  analysis::SearchResult search(const trace::Schedule& schedule,
                                const analysis::SearchRequest& request) override;

  /// follow(), and what the threads of a run that fails were doing then: too slow for every trial.
  analysis::Attempt follow_with_stacks(const trace::Schedule& schedule);

 private:
  analysis::Attempt execute_alone(const abi::Options& options,
                                  std::span<const abi::PlanRecord> plan);
  /// The same, but the first events are not executed again where that pays.
  analysis::Attempt execute_rest(Target& target, const abi::Options& options,
                                 std::span<const abi::PlanRecord> plan,
                                 const analysis::Common& common,
                                 std::uint64_t most_events = Target::kAllEvents);
  analysis::Attempt execute(Target& target, const abi::Options& options,
                            std::span<const abi::PlanRecord> plan,
                            std::uint64_t most_events = Target::kAllEvents);
  /// Whether what executions have in common follows from their plans.
  bool is_plain(const abi::Options& options) const;
  Ending judge(const Target& target, const Execution& execution) const;
  analysis::Attempt attempt_of(const Target& target, const Ending& ending, double seconds);
  abi::Options options_for(const trace::Schedule& schedule, std::uint64_t order) const;

  const Program& program_;
  const Inputs& inputs_;
  abi::Options options_;
  const std::uint64_t max_followed_;
  std::string fails_if_;
  std::uint64_t typical_length_ = 0;  // events of the execution before
  std::mutex mutex_;                  // for program_, which learns names as it is asked for them
  const Stems::Start start_;
  Stems stems_;
  TargetPool pool_;
};

}  // namespace heddle::driver
