// SPDX-License-Identifier: Apache-2.0
#include "analysis/reduce/one_preemption.h"

#include <set>
#include <utility>

#include "analysis/localise/pairs.h"

namespace heddle::analysis {

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
    auto next = accesses.next_of_thread(pairs[i].first);
    // Inside a critical section the other could not get to the same place.
    while (next && !accesses.sections(*next).empty()) next = accesses.next_of_thread(*next);
    if (!next || accesses.owner(*next) == to) continue;
    trace::Decision decision;
    const Point point = accesses.decision_point(*next);
    decision.thread = point.thread;
    decision.site = point.site;
    decision.occurrence = point.occurrence;
    decision.preemption = true;
    decision.target = run.trace.threads[to].path;
    if (!tried.emplace(point, decision.target).second) continue;
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
