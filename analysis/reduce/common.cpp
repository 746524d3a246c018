// SPDX-License-Identifier: Apache-2.0
#include "analysis/reduce/common.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace heddle::analysis {
namespace {

using trace::Event;
using trace::EventKind;
using trace::Trace;

/// Goes through a run. A thread is asked about what it does next when it has done something, and
/// that may be written down only when it comes to the next.
class Progress {
 public:
  explicit Progress(const Trace& trace) : last_(trace.threads.size(), 0) {}

  /// How many events there are in any case when this thread is first asked about its next one.
  std::uint64_t when_asked(trace::ThreadId thread) const { return last_[thread]; }

  /// `is_there`: not only of a run that others are made from.
  void pass(const Event& event, std::uint64_t index, bool is_there = true) {
    if (is_there) last_[event.thread] = index;
    if (event.kind == EventKind::ThreadCreate && event.value < last_.size()) {
      last_[event.value] = index;
    }
  }

 private:
  std::vector<std::uint64_t> last_;  // by thread: its last event, or the one that created it
};

auto identity(const trace::Decision& decision) {
  return std::tie(decision.kind, decision.thread, decision.site, decision.occurrence,
                  decision.target, decision.value);
}

std::vector<const trace::Decision*> differing(const std::vector<trace::Decision>& one,
                                              const std::vector<trace::Decision>& two) {
  const auto less = [](const trace::Decision* a, const trace::Decision* b) {
    return identity(*a) < identity(*b);
  };
  std::vector<const trace::Decision*> sorted[2];
  for (const trace::Decision& decision : one) sorted[0].push_back(&decision);
  for (const trace::Decision& decision : two) sorted[1].push_back(&decision);
  for (auto& side : sorted) std::sort(side.begin(), side.end(), less);
  std::vector<const trace::Decision*> result;
  std::set_symmetric_difference(sorted[0].begin(), sorted[0].end(), sorted[1].begin(),
                                sorted[1].end(), std::back_inserter(result), less);
  return result;
}

/// Where decisions are taken: by thread and site, at which visits.
using Points = std::map<std::pair<std::string, std::string>, std::set<std::uint32_t>>;

}  // namespace

Common in_common(const Attempt& run, const std::vector<trace::Decision>& other) {
  const Trace& trace = run.trace;
  Points points;
  for (const trace::Decision* const decision : differing(run.schedule.decisions, other)) {
    points[{decision->thread, decision->site}].insert(decision->occurrence);
  }
  std::set<std::string> sites;
  for (const auto& [point, occurrences] : points) sites.insert(point.second);
  std::vector<bool> matters;
  for (const trace::Site& site : trace.sites) matters.push_back(sites.contains(site.key));
  std::map<std::pair<std::string, std::string>, std::uint32_t> visits;
  Progress progress(trace);
  std::uint64_t events = trace.events.size();
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const Event& event = trace.events[i];
    const bool is_known = event.site != trace::kNone;
    if (!is_known || matters[event.site]) {
      const std::pair place{trace.threads[event.thread].path,
                            is_known ? trace.sites[event.site].key : "<unknown>"};
      const auto point = points.find(place);
      if (point != points.end() && point->second.erase(++visits[place]) != 0) {
        events = std::min(events, progress.when_asked(event.thread));
      }
    }
    progress.pass(event, i);
  }
  // What the run did not come to, it may have been about to.
  for (std::size_t thread = 0; thread < trace.threads.size(); ++thread) {
    const bool asked = std::any_of(points.begin(), points.end(), [&](const auto& point) {
      return point.first.first == trace.threads[thread].path && !point.second.empty();
    });
    if (asked) {
      events = std::min(events, progress.when_asked(static_cast<trace::ThreadId>(thread)));
    }
  }
  return {run.number, events};
}

Common in_common(const Attempt& run, const std::vector<bool>& missing,
                 const std::vector<bool>& missing_of_other, std::uint64_t other) {
  const Trace& trace = run.trace;
  std::vector<bool> has_parted(trace.threads.size());
  std::map<std::pair<trace::ThreadId, trace::SiteIndex>, std::uint64_t> iterated;
  Progress progress(trace);
  std::uint64_t parts = trace.events.size();
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const Event& event = trace.events[i];
    const bool iterates =
        event.kind == EventKind::IterationBegin || event.kind == EventKind::IterationEnd;
    if (missing[i] != missing_of_other[i] && !has_parted[event.thread]) {
      has_parted[event.thread] = true;
      std::uint64_t when = progress.when_asked(event.thread);
      // Between iterations that are left out it is asked whether the loop goes on: since the last
      // that is not.
      if (iterates && event.value != 1) {
        const auto last = iterated.find({event.thread, event.site});
        when = last == iterated.end() ? 0 : last->second;
      }
      parts = std::min(parts, when);
    }
    if (iterates && !missing[i]) iterated[{event.thread, event.site}] = i;
    progress.pass(event, i, !missing[i]);
  }
  const auto end = missing.begin() + static_cast<std::ptrdiff_t>(parts);
  return {other, static_cast<std::uint64_t>(std::count(missing.begin(), end, false)), 0};
}

std::uint64_t behind_longest_in_common(const Attempt& run, const LeftOut& already,
                                       const std::vector<std::string>& threads) {
  const std::vector<bool> nothing(run.trace.events.size());
  std::set<std::uint64_t> places;
  for (const std::string& thread : threads) {
    LeftOut alone = already;
    alone.threads.push_back(thread);
    const std::vector<bool> missing = missing_events(run.trace, alone);
    places.insert(in_common(run, missing, nothing, run.number).events);
  }
  std::uint64_t result = 0;
  std::uint64_t longest = 0;
  std::uint64_t before = 0;
  for (const std::uint64_t place : places) {
    if (place - before > longest) {
      longest = place - before;
      result = place;
    }
    before = place;
  }
  return result;
}

std::uint64_t events_alone(const Trace& trace) {
  const auto first = std::find_if(trace.events.begin(), trace.events.end(), [](const Event& event) {
    return event.kind == EventKind::ThreadCreate || event.thread != 0;
  });
  const auto alone = static_cast<std::uint64_t>(first - trace.events.begin());
  return alone == 0 ? 0 : alone - 1;  // the last may not be written down when a thread is created
}

}  // namespace heddle::analysis
