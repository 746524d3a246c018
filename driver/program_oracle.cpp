// SPDX-License-Identifier: Apache-2.0
#include "driver/program_oracle.h"

#include <cstring>
#include <utility>

#include "driver/outcome.h"
#include "driver/trace_builder.h"

namespace heddle::driver {
namespace {

constexpr std::chrono::milliseconds kExecutionLimit{10'000};

}  // namespace

ProgramOracle::ProgramOracle(const Program& program, const Inputs& inputs, std::uint64_t max_events,
                             std::string fails_if)
    : program_(program),
      inputs_(inputs),
      fails_if_(std::move(fails_if)),
      target_(program.executable(), inputs, max_events, kExecutionLimit) {
  std::strcpy(options_.strategy, "follow");
  options_.max_events = max_events;
}

analysis::Attempt ProgramOracle::follow(const trace::Schedule& schedule) {
  return execute(options_, schedule, make_plan(program_, schedule));
}

analysis::Attempt ProgramOracle::steer(const trace::Schedule& schedule,
                                       const std::vector<analysis::Order>& orders) {
  std::vector<abi::PlanRecord> plan = make_plan(program_, schedule);
  for (const analysis::Order& order : orders) {
    plan.push_back(point_record(program_, abi::DecisionKind::Hold, order.second));
    plan.push_back(point_record(program_, abi::DecisionKind::Until, order.first));
  }
  return execute(options_, schedule, plan);
}

analysis::Attempt ProgramOracle::wander(const trace::Schedule& schedule, std::uint64_t seed) {
  abi::Options options = options_;
  std::strcpy(options.strategy, seed % 2 == 0 ? "random" : "pct");
  options.seed = seed;
  options.length = typical_length_;
  return execute(options, schedule, absent_records(schedule.absent_threads));
}

analysis::Attempt ProgramOracle::execute(abi::Options options, const trace::Schedule& schedule,
                                         const std::vector<abi::PlanRecord>& plan) {
  set_memory_model(options, schedule);
  const auto begin = std::chrono::steady_clock::now();
  const Execution execution = target_.run(options, plan);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  typical_length_ = target_.channel().events().size();
  Ending ending = classify(target_, execution);
  if (!ending.failed() && !fails_if_.empty() && predicate_holds(fails_if_, target_, ending)) {
    ending.kind = abi::FailureKind::Predicate;
  }
  return {build_trace(program_, target_, ending), build_schedule(program_, target_, inputs_),
          target_.standard_output(), target_.standard_error(), seconds};
}

}  // namespace heddle::driver
