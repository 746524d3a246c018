// SPDX-License-Identifier: Apache-2.0
#include "trace/counts.h"

#include <algorithm>
#include <string>
#include <vector>

namespace heddle::trace {
namespace {

bool is_flusher(const Thread& thread) {
  return thread.path.ends_with('~');
}

}  // namespace

std::uint64_t program_threads(const Trace& trace, const Schedule& schedule) {
  const std::vector<std::string>& absent = schedule.absent_threads;
  return static_cast<std::uint64_t>(
      std::count_if(trace.threads.begin(), trace.threads.end(), [&](const Thread& thread) {
        return !is_flusher(thread) &&
               std::find(absent.begin(), absent.end(), thread.path) == absent.end();
      }));
}

std::uint64_t acting_threads(const Trace& trace) {
  std::vector<bool> acts(trace.threads.size());
  for (const Event& event : trace.events) acts[event.thread] = true;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < acts.size(); ++i) {
    if (acts[i] && !is_flusher(trace.threads[i])) ++count;
  }
  return count;
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
