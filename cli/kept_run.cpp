// SPDX-License-Identifier: Apache-2.0
#include "cli/kept_run.h"

#include <fmt/format.h>

#include "base/error.h"
#include "cli/run_options.h"

namespace heddle::cli {

KeptRun open_kept_run(const store::Store& store, const std::string& name,
                      const std::string& command, const std::string& fails_if,
                      ProgressLine& progress, abi::Variant variant) {
  const store::RunSummary summary = store.find(name);
  const driver::Inputs inputs = from_stored(store.load_inputs(summary.id));
  const store::RunOutput output = store.load_output(summary.id);
  analysis::Attempt attempt{store.load_trace(summary.id), store.load_schedule(summary.id),
                            output.standard_output, output.standard_error, summary.seconds};
  if (attempt.trace.outcome.kind == abi::FailureKind::Predicate && fails_if.empty()) {
    throw user_error(
        fmt::format("{0} was judged by a predicate; say it again: heddle {1} {0} --fails-if '...'",
                    summary.id, command));
  }
  variant = variant.with(driver::variant_for(attempt.schedule).extras);
  // A checkpoint is memory of the program as it was recorded, and fits no other.
  if (!inputs.checkpoint.empty()) variant = abi::Variant::Full;
  driver::Program program = driver::Program::open(
      program_of(inputs), [&](std::string_view text) { progress.say(text); }, variant);
  return {summary, inputs, std::move(attempt), std::move(program)};
}

}  // namespace heddle::cli
