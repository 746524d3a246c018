// SPDX-License-Identifier: Apache-2.0
#include "analysis/reduce/projection.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace heddle::analysis {
namespace {

using trace::Decision;
using trace::Event;
using trace::EventKind;
using trace::Schedule;
using trace::Trace;

bool is_flusher(const std::string& thread) {
  return thread.ends_with('~');
}

/// Flushes that a thread has to do itself are no points of decision (trace/FORMAT.md).
bool is_forced_flush(const Trace& trace, const Event& event) {
  return event.kind == EventKind::Flush && !is_flusher(trace.threads[event.thread].path);
}

std::string site_of(const Trace& trace, const Event& event) {
  if (event.kind == EventKind::Flush) return "<flush>";
  return event.site == trace::kNone ? "<unknown>" : trace.sites[event.site].key;
}

/// Nobody is asked who goes on where an iteration begins or ends: it is written down only.
bool is_iteration(EventKind kind) {
  return kind == EventKind::IterationBegin || kind == EventKind::IterationEnd;
}

/// A place at which the schedule can say something about a thread.
struct DecisionPoint {
  std::string site;
  std::uint32_t occurrence = 1;
  std::uint64_t ordinal = 1;
  EventKind pending = EventKind::None;
};

/// The points of one thread, given which of its events are missing.
class ThreadPoints {
 public:
  void add(const std::string& site, EventKind kind, bool missing) {
    next_.push_back(points_.size());
    if (missing) return;
    ++events_;
    if (!is_iteration(kind)) points_.push_back({site, ++visits_[site], events_, kind});
  }
  /// The point before the first event that stays, from the thread's event `index` on; nullptr if
  /// none does.
  const DecisionPoint* from(std::size_t index) const {
    const std::size_t at = index < next_.size() ? next_[index] : points_.size();
    return at < points_.size() ? &points_[at] : nullptr;
  }
  /// Of the run, those that are missing included.
  std::size_t events() const { return next_.size(); }
  /// The event at `site` that the thread was about to do when the run ended.
  DecisionPoint after_all(const std::string& site, EventKind kind) const {
    const auto found = visits_.find(site);
    return {site, (found == visits_.end() ? 0 : found->second) + 1, events_ + 1, kind};
  }

 private:
  std::vector<DecisionPoint> points_;
  std::uint64_t events_ = 0;       // that stay
  std::vector<std::size_t> next_;  // by event of the thread: the first point at or after it
  std::map<std::string, std::uint32_t> visits_;
};

class Projection {
 public:
  Projection(const Attempt& run, const LeftOut& left_out)
      : trace_(run.trace),
        original_(run.schedule),
        left_out_(left_out),
        missing_(missing_events(run.trace, left_out)),
        points_(run.trace.threads.size()) {
    for (std::size_t i = 0; i < trace_.events.size(); ++i) {
      const Event& event = trace_.events[i];
      if (is_forced_flush(trace_, event)) continue;
      points_[event.thread].add(site_of(trace_, event), event.kind, missing_[i]);
    }
    for (const Decision& decision : original_.decisions) {
      decisions_.emplace(std::pair{decision.thread, decision.ordinal}, &decision);
    }
  }

  std::uint64_t events() const {
    return static_cast<std::uint64_t>(std::count(missing_.begin(), missing_.end(), false));
  }

  const std::vector<bool>& missing() const { return missing_; }

  Schedule schedule() {
    Schedule result = original_;
    result.absent_threads = left_out_.threads;
    result.skipped = ranges();
    result.overlooked = left_out_.overlooked;
    result.decisions.clear();
    std::vector<std::size_t> done(trace_.threads.size(), 0);  // events of each thread so far
    std::size_t last = trace_.events.size();                  // the last event that stays
    for (std::size_t i = 0; i < trace_.events.size(); ++i) {
      const Event& event = trace_.events[i];
      // A thread need not be switched to for the mere sake of an iteration's ends.
      if (!missing_[i] && !is_iteration(event.kind)) {
        if (last < i && trace_.events[last].thread != event.thread) {
          add_switch(result, trace_.events[last].thread, done, event.thread);
        }
        last = i;
      }
      if (!is_forced_flush(trace_, event)) ++done[event.thread];
    }
    add_values(result);
    return result;
  }

 private:
  void add_switch(Schedule& result, trace::ThreadId from, const std::vector<std::size_t>& done,
                  trace::ThreadId to) const {
    Decision decision;
    decision.thread = trace_.threads[from].path;
    decision.target = trace_.threads[to].path;
    const auto said = decisions_.find({decision.thread, done[from] + 1});
    if (said != decisions_.end()) {
      decision.preemption = said->second->preemption;
      decision.where = said->second->where;
    }
    if (const DecisionPoint* const point = points_[from].from(done[from])) {
      set_point(decision, *point);
    } else if (const Decision* const end = at_end(from, done[from])) {
      set_point(decision, points_[from].after_all(end->site, end->pending));
    } else {
      return;  // it never came to anything again, and nobody else could go on
    }
    result.decisions.push_back(std::move(decision));
  }

  /// What was decided where the thread was about to do something when the run ended; if that is
  /// not known, where it had done `done` events. nullptr: nothing.
  const Decision* at_end(trace::ThreadId thread, std::size_t done) const {
    const std::string& path = trace_.threads[thread].path;
    for (const std::size_t events : {points_[thread].events(), done}) {
      const auto said = decisions_.find({path, events + 1});
      if (said != decisions_.end()) return said->second;
    }
    return nullptr;
  }

  /// Choices of data stay with the event in the course of which they were made.
  void add_values(Schedule& result) const {
    for (const Decision& decision : original_.decisions) {
      if (decision.kind != abi::DecisionKind::Value) continue;
      const auto thread = std::find_if(
          trace_.threads.begin(), trace_.threads.end(),
          [&](const trace::Thread& candidate) { return candidate.path == decision.thread; });
      if (thread == trace_.threads.end()) continue;
      const auto index = static_cast<std::size_t>(thread - trace_.threads.begin());
      const DecisionPoint* const point = points_[index].from(decision.ordinal - 1);
      if (point == nullptr || point->site != decision.site) continue;
      result.decisions.push_back(decision);
      set_point(result.decisions.back(), *point);
    }
  }

  static void set_point(Decision& decision, const DecisionPoint& point) {
    decision.site = point.site;
    decision.occurrence = point.occurrence;
    decision.ordinal = point.ordinal;
    decision.pending = point.pending;
  }

  std::vector<trace::SkippedIterations> ranges() const {
    std::vector<trace::SkippedIterations> ranges;
    for (const Iteration& iteration : left_out_.iterations) {
      if (!ranges.empty() && extends(ranges.back(), iteration)) {
        ranges.back().at_once = iteration.again;
        ++ranges.back().last;
      } else {
        ranges.push_back({iteration.thread, iteration.site, iteration.number, iteration.number,
                          iteration.creates, false});
      }
    }
    for (const Iteration& tail : left_out_.tails) {
      ranges.push_back({tail.thread, tail.site, tail.number, trace::SkippedIterations::kNoEnd, 0,
                        trace::is_loop(tail.site)});
    }
    return ranges;
  }

  static bool extends(const trace::SkippedIterations& range, const Iteration& iteration) {
    return range.thread == iteration.thread && range.site == iteration.site &&
           range.last + 1 == iteration.number && range.creates == iteration.creates &&
           (range.first == range.last || range.at_once == iteration.again);
  }

  const Trace& trace_;
  const Schedule& original_;
  const LeftOut& left_out_;
  const std::vector<bool> missing_;
  std::vector<ThreadPoints> points_;
  std::map<std::pair<std::string, std::uint64_t>, const Decision*> decisions_;
};

/// Who asks whether the loop goes on between two iterations that are left out: those events of a
/// thread that come between the two.
class Asking {
 public:
  explicit Asking(std::size_t threads) : left_out_(threads), since_(threads) {}

  /// An iteration is over that is left out.
  void end(const Event& event) {
    left_out_[event.thread] = event;
    since_[event.thread].clear();
  }
  void pass(const Event& event, std::size_t index) {
    if (left_out_[event.thread].kind != EventKind::None) since_[event.thread].push_back(index);
  }
  /// Another begins. What came between it and the one before, if that was left out with it.
  std::vector<std::size_t> begin(const Event& event, bool is_left_out) {
    Event& before = left_out_[event.thread];
    const bool together = is_left_out && event.size != 0 && before.site == event.site &&
                          before.value + 1 == event.value && before.kind != EventKind::None;
    before.kind = EventKind::None;
    return together ? std::exchange(since_[event.thread], {}) : std::vector<std::size_t>{};
  }

 private:
  std::vector<Event> left_out_;  // by thread: its last end of an iteration, if that is left out
  std::vector<std::vector<std::size_t>> since_;
};

}  // namespace

LeftOut left_out_of(const Schedule& schedule) {
  LeftOut result{schedule.absent_threads, {}, {}, schedule.overlooked};
  for (const trace::SkippedIterations& skip : schedule.skipped) {
    if (skip.last == trace::SkippedIterations::kNoEnd) {
      result.tails.push_back({skip.thread, skip.site, skip.first});
      continue;
    }
    for (std::uint32_t i = skip.first; i <= skip.last; ++i) {
      const bool again = skip.at_once && i > skip.first;
      result.iterations.push_back({skip.thread, skip.site, i, skip.creates, again});
    }
  }
  std::sort(result.iterations.begin(), result.iterations.end());
  return result;
}

bool is_part_of(const std::string& thread, const std::string& ancestor) {
  return thread == ancestor || thread.starts_with(ancestor + ".") || thread == ancestor + "~";
}

std::vector<bool> missing_events(const Trace& trace, const LeftOut& left_out) {
  std::vector<bool> absent(trace.threads.size());
  for (std::size_t i = 0; i < absent.size(); ++i) {
    absent[i] = std::any_of(
        left_out.threads.begin(), left_out.threads.end(),
        [&](const std::string& ancestor) { return is_part_of(trace.threads[i].path, ancestor); });
  }
  const std::set<Iteration> skipped(left_out.iterations.begin(), left_out.iterations.end());
  // Iterations may be nested: how deep each thread is, and from which depth on it is skipped.
  std::vector<std::uint32_t> depth(trace.threads.size(), 0);
  std::vector<std::uint32_t> skipped_from(trace.threads.size(), 0);

  const std::set<std::string> overlooked(left_out.overlooked.begin(), left_out.overlooked.end());
  std::vector<bool> is_overlooked;  // by site
  for (const trace::Site& site : trace.sites) {
    is_overlooked.push_back(overlooked.contains(site.key));
  }

  std::vector<bool> missing(trace.events.size());
  Asking asking(trace.threads.size());
  for (std::size_t i = 0; i < missing.size(); ++i) {
    const Event& event = trace.events[i];
    bool is_missing =
        absent[event.thread] || (event.site != trace::kNone && is_overlooked[event.site]);
    if (event.kind == EventKind::ThreadCreate || event.kind == EventKind::ThreadJoin ||
        event.kind == EventKind::ThreadDetach || event.kind == EventKind::ThreadTryjoin) {
      is_missing |= event.value < absent.size() && absent[event.value];
    }
    std::uint32_t& from = skipped_from[event.thread];
    if (event.kind == EventKind::IterationBegin) {
      ++depth[event.thread];
      const Iteration iteration{trace.threads[event.thread].path, site_of(trace, event),
                                static_cast<std::uint32_t>(event.value)};
      if (from == 0 && !skipped.empty()) {
        const bool is_left_out = skipped.contains(iteration);
        for (const std::size_t asked : asking.begin(event, is_left_out)) missing[asked] = true;
        if (is_left_out) from = depth[event.thread];
      }
    } else if (from == 0) {
      asking.pass(event, i);
    }
    missing[i] = is_missing || from != 0;
    if (event.kind == EventKind::IterationEnd && depth[event.thread] > 0) {
      if (depth[event.thread]-- == from) {
        from = 0;
        asking.end(event);
      }
    }
  }
  return missing;
}

Projected project(const Attempt& run, const LeftOut& left_out) {
  Projection projection(run, left_out);
  return {projection.schedule(), projection.events(), projection.missing()};
}

std::vector<Iteration> unreached_tails(const Attempt& run) {
  const Trace& trace = run.trace;
  std::vector<std::vector<Iteration>> open(trace.threads.size());
  for (const Event& event : trace.events) {
    std::vector<Iteration>& own = open[event.thread];
    if (event.kind == EventKind::IterationBegin) {
      own.push_back({trace.threads[event.thread].path, site_of(trace, event),
                     static_cast<std::uint32_t>(event.value)});
    } else if (event.kind == EventKind::IterationEnd && !own.empty()) {
      own.pop_back();
    }
  }
  std::set<std::string> joining;  // threads whose last decision was made where they waited to join
  for (const Decision& decision : run.schedule.decisions) {
    const bool joins =
        decision.pending == EventKind::ThreadJoin || decision.pending == EventKind::ThreadTryjoin;
    if (joins) joining.insert(decision.thread);
    if (!joins) joining.erase(decision.thread);
  }
  std::vector<Iteration> result;
  for (const std::vector<Iteration>& own : open) {
    for (Iteration iteration : own) {
      if (joining.contains(iteration.thread)) continue;
      ++iteration.number;
      result.push_back(std::move(iteration));
    }
  }
  return result;
}

std::vector<Iteration> iterations_of(const Trace& trace) {
  struct Open {
    std::size_t index;
    std::uint64_t created;  // threads, before it began
  };
  std::vector<Iteration> result;
  std::vector<std::vector<Open>> open(trace.threads.size());
  for (const Event& event : trace.events) {
    std::vector<Open>& own = open[event.thread];
    if (event.kind == EventKind::IterationBegin) {
      own.push_back({result.size(), event.aux});
      result.push_back({trace.threads[event.thread].path, site_of(trace, event),
                        static_cast<std::uint32_t>(event.value), 0, event.size != 0});
    } else if (event.kind == EventKind::IterationEnd && !own.empty()) {
      result[own.back().index].creates = static_cast<std::uint16_t>(event.aux - own.back().created);
      own.pop_back();
    }
  }
  return result;
}

std::vector<Iteration> removable_iterations(const Trace& trace,
                                            const std::vector<std::string>& gone) {
  std::vector<Iteration> all = iterations_of(trace);
  const auto is_gone = [&](std::uint64_t thread) {
    return thread < trace.threads.size() &&
           std::any_of(
               gone.begin(), gone.end(),
               [&](const std::string& ancestor) {
                 return is_part_of(trace.threads[thread].path, ancestor);
               });
  };
  std::vector<bool> keeps(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) keeps[i] = trace::is_loop(all[i].site);
  std::vector<bool> has_life(all.size());
  std::vector<std::vector<std::size_t>> open(trace.threads.size());  // indices in `all`
  std::size_t begun = 0;
  for (const Event& event : trace.events) {
    std::vector<std::size_t>& own = open[event.thread];
    switch (event.kind) {
      case EventKind::IterationBegin: own.push_back(begun++); break;
      case EventKind::IterationEnd:
        if (own.empty()) break;
        keeps[own.back()] = keeps[own.back()] && has_life[own.back()];
        own.pop_back();
        break;
      case EventKind::ThreadCreate:
      case EventKind::ThreadJoin:
      case EventKind::ThreadTryjoin:
      case EventKind::ThreadDetach:
        if (is_gone(event.value)) break;
        for (const std::size_t i : own) has_life[i] = true;
        break;
      default: break;
    }
  }
  std::vector<Iteration> result;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!keeps[i]) result.push_back(std::move(all[i]));
  }
  return result;
}

}  // namespace heddle::analysis
