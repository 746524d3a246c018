// SPDX-License-Identifier: Apache-2.0
#include "trace/counts.h"

#include <algorithm>

namespace heddle::trace {

std::uint64_t program_threads(const Trace& trace) {
  return static_cast<std::uint64_t>(
      std::count_if(trace.threads.begin(), trace.threads.end(),
                    [](const Thread& thread) { return !thread.path.ends_with('~'); }));
}

std::uint64_t context_switches(const Trace& trace) {
  std::uint64_t switches = 0;
  for (std::size_t i = 1; i < trace.events.size(); ++i)
    if (trace.events[i].thread != trace.events[i - 1].thread) ++switches;
  return switches;
}

std::uint64_t preemptions(const Schedule& schedule) {
  return static_cast<std::uint64_t>(std::count_if(
      schedule.decisions.begin(), schedule.decisions.end(), [](const Decision& decision) {
        return decision.kind == abi::DecisionKind::Thread && decision.preemption;
      }));
}

}  // namespace heddle::trace
