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
  set_memory_model(options_, schedule);
  const auto begin = std::chrono::steady_clock::now();
  const Execution execution = target_.run(options_, make_plan(program_, schedule));
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  Ending ending = classify(target_, execution);
  if (!ending.failed() && !fails_if_.empty() && predicate_holds(fails_if_, target_, ending)) {
    ending.kind = abi::FailureKind::Predicate;
  }
  return {build_trace(program_, target_, ending), build_schedule(program_, target_, inputs_),
          target_.standard_output(), target_.standard_error(), seconds};
}

}  // namespace heddle::driver
