// SPDX-License-Identifier: Apache-2.0
#include "analysis/localise/call_stacks.h"

#include <algorithm>

namespace heddle::analysis {

CallStacks::CallStacks(const trace::Trace& trace) {
  const auto is_call = [](const trace::Step& step) {
    return step.kind == trace::StepKind::CallEnter;
  };
  if (trace.steps_lost > 0 || std::ranges::none_of(trace.steps, is_call)) return;
  std::vector<std::uint32_t> now(trace.threads.size(), 0);
  at_.reserve(trace.events.size());
  auto step = trace.steps.begin();
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    for (; step != trace.steps.end() && step->event <= i; ++step) {
      std::uint32_t& call = now[step->thread];
      if (step->kind == trace::StepKind::CallEnter) {
        calls_.push_back({call, step->site});
        call = static_cast<std::uint32_t>(calls_.size() - 1);
      } else if (step->kind == trace::StepKind::CallExit) {
        call = calls_[call].caller;
      }
    }
    at_.push_back(now[trace.events[i].thread]);
  }
}

std::vector<trace::SiteIndex> CallStacks::at(std::size_t event) const {
  std::vector<trace::SiteIndex> functions;
  if (at_.empty()) return functions;
  for (std::uint32_t call = at_[event]; call != 0; call = calls_[call].caller) {
    functions.push_back(calls_[call].function);
  }
  std::ranges::reverse(functions);
  return functions;
}

}  // namespace heddle::analysis
