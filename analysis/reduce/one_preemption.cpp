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

/// Where a thread is not interrupted.
enum class Except {
  WhereItHoldsWhatTheOtherNeeds,  // the other could not get to the same place
  InsideAnySection,
};

/// Whether the thread is in a section there in which it is not to be interrupted in favour of who
/// does `second`.
bool is_excepted(const Accesses& accesses, const std::vector<Section>& around, std::size_t second,
                 Except except) {
  if (except == Except::InsideAnySection) return !around.empty();
  const std::vector<Section> needed = accesses.sections(second);
  return std::any_of(around.begin(), around.end(), [&](const Section& held) {
    return std::any_of(needed.begin(), needed.end(), [&](const Section& section) {
      return section.lock == held.lock && section.offset == held.offset;
    });
  });
}

/// Where the thread that did the first of the two can be interrupted next.
std::optional<Point> next_point(const Attempt& run, const Accesses& accesses,
                                const PairInstance& pair, Except except) {
  auto next = accesses.next_of_thread(pair.first);
  while (next && (!is_asked(run.trace.events[*next]) ||
                  is_excepted(accesses, accesses.sections(*next), pair.second, except))) {
    next = accesses.next_of_thread(*next);
  }
  if (next) return accesses.decision_point(*next);
  std::vector<Section> around = accesses.sections(pair.first);
  std::erase_if(around,
                [&](const Section& section) { return section.released < run.trace.events.size(); });
  if (is_excepted(accesses, around, pair.second, except)) return std::nullopt;
  return point_at_end(run, run.trace.threads[accesses.owner(pair.first)].path);
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
    const std::string& to = run.trace.threads[accesses.owner(pairs[i].second)].path;
    for (const Except except : {Except::WhereItHoldsWhatTheOtherNeeds, Except::InsideAnySection}) {
      const std::optional<Point> point = next_point(run, accesses, pairs[i], except);
      if (!point || point->thread == to || !tried.emplace(*point, to).second) continue;
      trace::Decision decision;
      decision.thread = point->thread;
      decision.site = point->site;
      decision.occurrence = point->occurrence;
      decision.preemption = true;
      decision.target = to;
      for (const bool others : {true, false}) {
        if (result.size() >= most) return result;
        result.push_back(quiet);
        if (!others) result.back().decisions.clear();
        result.back().decisions.push_back(decision);
      }
    }
  }
  return result;
}

}  // namespace heddle::analysis
