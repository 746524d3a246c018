// SPDX-License-Identifier: Apache-2.0
#include "driver/determinism.h"

#include "driver/output_difference.h"
#include "driver/trace_builder.h"
#include "trace/compare.h"

namespace heddle::driver {

std::optional<std::string> find_leak(const Program& program, Target& target,
                                     const abi::Options& options,
                                     std::span<const abi::PlanRecord> plan, const Ending& ending) {
  const trace::Trace first = build_trace(program, target, ending);
  const Output first_output{target.standard_output(), target.standard_error()};
  Ending again = classify(target, target.run(options, plan));
  // A predicate judged the first; it would have judged the same output the same way.
  if (ending.kind == abi::FailureKind::Predicate && !again.failed()) again.kind = ending.kind;
  const trace::Trace second = build_trace(program, target, again);
  if (const auto difference = trace::first_difference(first, second)) {
    return trace::to_text(*difference);
  }
  return first_difference(first_output, {target.standard_output(), target.standard_error()});
}

}  // namespace heddle::driver
