// SPDX-License-Identifier: Apache-2.0
#include "driver/replayer.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>

#include "base/error.h"
#include "driver/outcome.h"
#include "driver/output_difference.h"
#include "driver/trace_builder.h"
#include "trace/compare.h"
#include "trace/course.h"
#include "trace/schedule_text.h"

namespace heddle::driver {
namespace {

constexpr std::chrono::milliseconds kExecutionLimit{60'000};

std::uint64_t recorded(const trace::Trace& trace, const char* option, std::uint64_t otherwise) {
  const auto found = trace.header.options.find(option);
  if (found == trace.header.options.end()) return otherwise;
  return std::strtoull(found->second.c_str(), nullptr, 10);
}

abi::Options options_for(const Expectation& expectation, const std::string& carrier) {
  abi::Options options = replay_options(expectation.trace, expectation.schedule);
  const std::size_t length = carrier.copy(options.carrier, sizeof options.carrier - 1);
  options.carrier[length] = 0;
  return options;
}

}  // namespace

abi::Options replay_options(const trace::Trace& trace, const trace::Schedule& schedule) {
  abi::Options options;
  std::strcpy(options.strategy, "replay");
  set_memory_model(options, schedule);
  options.max_events = recorded(trace, "max_events", options.max_events);
  // A run whose accesses were overlooked has synchronisation only, and comes back so.
  options.overlook = recorded(trace, "overlook", 0);
  if (options.overlook != 0) {
    std::strcpy(options.preempt_at, "sync");
    options.see_from = recorded(trace, "see_from", 0);
    options.see_events = recorded(trace, "see_events", 0);
  }
  return options;
}

Replayer::Replayer(const Program& program, const Inputs& inputs, const Expectation& expectation,
                   const std::string& carrier)
    : program_(program),
      expectation_(expectation),
      plan_(make_plan(program, expectation.schedule)),
      options_(options_for(expectation, carrier)),
      target_(program.image(), inputs, options_.max_events, kExecutionLimit) {}

ReplayResult Replayer::replay() {
  const auto begin = std::chrono::steady_clock::now();
  const Execution execution = target_.run(options_, plan_);
  ReplayResult result;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const Ending ending = classify(target_, execution);
  trace::Trace actual = build_trace(program_, target_, ending);
  result.events = actual.events.size();

  // A predicate judged the recorded run; what it judged is compared byte by byte below.
  if (expectation_.trace.outcome.kind == abi::FailureKind::Predicate && !ending.failed()) {
    actual.outcome.kind = abi::FailureKind::Predicate;
  }
  result.course_difference = trace::other_course(expectation_.trace, actual).value_or("");
  if (const auto difference = trace::first_difference(expectation_.trace, actual)) {
    result.difference = trace::to_text(*difference);
    if (ending.kind == abi::FailureKind::Unsupported && !ending.message.empty()) {
      result.difference += "\n" + ending.message;
    }
    const std::uint64_t position = target_.channel().header().failure.plan_position;
    if (ending.kind == abi::FailureKind::Divergence) {
      result.difference += position < expectation_.schedule.decisions.size()
                               ? "\nthe schedule could not be followed at: " +
                                     trace::to_text(expectation_.schedule.decisions[position])
                               : "\nthe schedule was at its end and did not say who goes on";
    }
    return result;
  }
  const auto difference =
      first_difference(Output{expectation_.standard_output, expectation_.standard_error},
                       Output{target_.standard_output(), target_.standard_error()});
  result.reproduced = !difference;
  if (difference) result.difference = *difference;
  return result;
}

std::optional<std::string_view> Replayer::path() const {
  const Channel& channel = target_.channel();
  if (channel.header().path_full != 0) return std::nullopt;
  return channel.path();
}

}  // namespace heddle::driver
