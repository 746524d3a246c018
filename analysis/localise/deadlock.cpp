// SPDX-License-Identifier: Apache-2.0
#include "analysis/localise/deadlock.h"

#include "trace/signature.h"
#include "trace/words.h"

namespace heddle::analysis {
namespace {

/// The acquisition that `wait` is for the end of, and the wait, or nothing.
std::optional<FoundPair> edge_of(const trace::Wait& wait, const Observed& failed) {
  if (wait.holder == trace::kNone || wait.object == trace::kNone) return std::nullopt;
  const trace::Trace& trace = failed.attempt.trace;
  std::optional<std::size_t> acquired;
  std::uint32_t visits = 0;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const trace::Event& event = trace.events[i];
    if (event.thread == wait.holder && event.object == wait.object && event.offset == wait.offset &&
        event.site == wait.holder_site) {
      acquired = i;
    }
    if (event.thread == wait.thread && event.site == wait.site) ++visits;
  }
  if (!acquired) return std::nullopt;
  FoundPair pair;
  set_memory(pair, trace, wait.object, wait.offset);
  pair.first = found_access(failed, *acquired, failed);
  pair.first.role = "lock";
  pair.second.point = {trace.threads[wait.thread].path, trace.sites[wait.site].key, visits + 1};
  pair.second.thread = trace.threads[wait.thread].path;
  pair.second.role = "wait";
  if (const trace::Frame* const frame = trace::source_frame(trace, wait.site)) {
    pair.second.frame = *frame;
  }
  return pair;
}

}  // namespace

std::optional<Finding> locate_deadlock(const Observed& failed, Experiments& experiments,
                                       Proof& proof) {
  Finding finding;
  finding.procedure = "cycle";
  finding.level = to_text(Level::Tid);
  finding.bug_class = BugClass::Deadlock;
  std::vector<PairPoints> points;
  for (const trace::Wait& wait : trace::cycle_of(failed.attempt.trace.outcome.waits)) {
    const auto edge = edge_of(wait, failed);
    if (!edge) continue;
    points.push_back({edge->first.point, edge->second.point});
    finding.pairs.push_back(*edge);
  }
  if (finding.pairs.empty()) return std::nullopt;
  for (const PairPoints& pair : points) {
    const Verdict verdict = experiments.forbid(pair);
    if (verdict == Verdict::Impossible) continue;
    ++finding.forbidden.possible;
    if (verdict == Verdict::Holds) ++finding.forbidden.held;
  }
  finding.enforced = proof.enforce(points, failed);
  finding.confirmed = finding.forbidden.held > 0 && finding.enforced.held > 0;
  return finding;
}

}  // namespace heddle::analysis
