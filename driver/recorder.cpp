// SPDX-License-Identifier: Apache-2.0
#include "driver/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "abi/names.h"
#include "base/error.h"
#include "driver/trace_builder.h"

namespace heddle::driver {
namespace {

using Clock = std::chrono::steady_clock;

/// Room for that many operations, and for a chunk that each thread has only begun.
std::uint64_t log_capacity(std::uint64_t max_events) {
  const std::uint64_t chunks = max_events / abi::kStepsOfChunk + abi::kMaxThreads;
  return chunks * sizeof(abi::RecordingChunk);
}

std::vector<abi::PlanRecord> plan_of(const analysis::Recording& recording,
                                     const analysis::TotalOrder& order) {
  std::vector<abi::PlanRecord> plan;
  plan.reserve(order.turns.size());
  for (const analysis::Turn& turn : order.turns) {
    plan.push_back({recording.threads[turn.thread].hash,
                    0,
                    turn.site,
                    turn.operations,
                    abi::DecisionKind::Turn,
                    {}});
  }
  return plan;
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::ranges::sort(lines);
  return lines;
}

/// Who prints when is not recorded: the same lines, in whatever order.
bool same_lines(const std::string& a, const std::string& b) {
  return a == b || sorted_lines(a) == sorted_lines(b);
}

/// What a recorded and an enforced run have to have in common. Where each was ended they cannot
/// differ unless it was in another way.
std::string difference_of(const RecordedRun& recorded, const KeptRun& enforced) {
  const trace::Outcome& outcome = enforced.trace.outcome;
  if (outcome.kind == abi::FailureKind::Divergence) {
    return "the recorded order could not be followed";
  }
  if (outcome.kind != recorded.ending.kind || outcome.exit_code != recorded.ending.exit_code ||
      outcome.signal != recorded.ending.signal || outcome.message != recorded.ending.message) {
    return fmt::format("recorded: {} ({}); under control: {} ({})",
                       abi::name_of(recorded.ending.kind), abi::sentence_of(recorded.ending.kind),
                       abi::name_of(outcome.kind), abi::sentence_of(outcome.kind));
  }
  if (!same_lines(recorded.standard_output, enforced.standard_output) ||
      !same_lines(recorded.standard_error, enforced.standard_error)) {
    return "the program printed something else under control";
  }
  return {};
}

}  // namespace

ParallelRecorder::ParallelRecorder(const Program& program, const Inputs& inputs,
                                   const ExploreLimits& limits, std::uint64_t max_events)
    : program_(program),
      inputs_(inputs),
      limits_(limits),
      max_events_(max_events),
      target_(program.executable(), inputs, 1, limits.execution, log_capacity(max_events)) {}

RecordedRun ParallelRecorder::record() {
  abi::Options options;
  std::strcpy(options.carrier, "parallel");
  options.max_events = max_events_;
  const Clock::time_point begin = Clock::now();
  const Execution execution = target_.run(options, {});
  RecordedRun run;
  run.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  run.ending = judge(program_, target_, execution, limits_.fails_if);
  const Channel& channel = target_.channel();
  run.recording = analysis::read_recording(channel.recording(), channel.threads());
  run.recording.last = channel.header().failure.thread;
  run.inputs = inputs_;
  const std::vector<std::string> paths = thread_paths(channel);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::vector<std::int64_t>& times = run.recording.threads[i].clock;
    if (!times.empty()) run.inputs.clock[paths[i]] = times;
  }
  run.log_bytes = channel.recording().size();
  run.standard_output = target_.standard_output();
  run.standard_error = target_.standard_error();
  return run;
}

EnforcedRun enforce(const Program& program, const ExploreLimits& limits, std::uint64_t max_events,
                    const RecordedRun& recorded) {
  const analysis::TotalOrder order = analysis::order_of(recorded.recording);
  abi::Options options;
  std::strcpy(options.strategy, "order");
  options.max_events = 2 * max_events;  // from the half on, turns are fair rather than planned
  EnforcedRun enforced;
  enforced.run =
      run_once(program, recorded.inputs, options, plan_of(recorded.recording, order), limits);
  enforced.difference = difference_of(recorded, enforced.run);
  return enforced;
}

}  // namespace heddle::driver
