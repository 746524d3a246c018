// SPDX-License-Identifier: Apache-2.0
#include "analysis/reduce/one_preemption.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "analysis/localise/pairs.h"

namespace heddle::analysis {
namespace {

/// Nobody is asked who goes on where an iteration begins or ends.
bool is_asked(const trace::Event& event) {
  return event.kind != trace::EventKind::IterationBegin &&
         event.kind != trace::EventKind::IterationEnd;
}

/// What a thread was about to do when the run ended, if it had been made to wait there.
std::optional<Point> point_at_end(const Attempt& run, const std::string& thread) {
  std::uint64_t done = 0;
  for (const trace::Event& event : run.trace.events) {
    if (run.trace.threads[event.thread].path == thread && event.kind != trace::EventKind::Flush)
      ++done;
  }
  for (const trace::Decision& decision : run.schedule.decisions) {
    if (decision.thread == thread && decision.preemption && decision.ordinal == done + 1)
      return Point{thread, decision.site, decision.occurrence};
  }
  return std::nullopt;
}

/// Where the thread of `event` can be interrupted next: not inside a critical section, where the
/// other could not get to the same place.
std::optional<Point> next_point(const Attempt& run, const Accesses& accesses, std::size_t event) {
  auto next = accesses.next_of_thread(event);
  while (next && (!is_asked(run.trace.events[*next]) || !accesses.sections(*next).empty())) {
    next = accesses.next_of_thread(*next);
  }
  if (next) return accesses.decision_point(*next);
  const std::vector<Section> sections = accesses.sections(event);
  const bool is_inside = std::any_of(sections.begin(), sections.end(), [&](const Section& section) {
    return section.released >= run.trace.events.size();
  });
  if (is_inside) return std::nullopt;
  return point_at_end(run, run.trace.threads[accesses.owner(event)].path);
}

}  // namespace

std::vector<trace::Schedule> with_one_preemption(const Attempt& run, std::size_t most) {
  const Accesses accesses(run.trace);
  const std::vector<PairInstance> pairs = immediate_pairs(accesses);
  trace::Schedule quiet = run.schedule;  // who goes on where somebody has to wait
  std::erase_if(quiet.decisions, [](const trace::Decision& decision) {
    return decision.kind == abi::DecisionKind::Thread && decision.preemption;
  });
  std::set<std::pair<Point, std::string>> tried;
  std::vector<trace::Schedule> result;
  for (std::size_t i = pairs.size(); i-- > 0;) {
    const trace::ThreadId to = accesses.owner(pairs[i].second);
    const std::optional<Point> point = next_point(run, accesses, pairs[i].first);
    if (!point || point->thread == run.trace.threads[to].path) continue;
    trace::Decision decision;
    decision.thread = point->thread;
    decision.site = point->site;
    decision.occurrence = point->occurrence;
    decision.preemption = true;
    decision.target = run.trace.threads[to].path;
    if (!tried.emplace(*point, decision.target).second) continue;
    for (const bool others : {true, false}) {
      if (result.size() >= most) return result;
      result.push_back(quiet);
      if (!others) result.back().decisions.clear();
      result.back().decisions.push_back(decision);
    }
  }
  return result;
}

}  // namespace heddle::analysis
