// SPDX-License-Identifier: Apache-2.0
#include "analysis/pin/propose.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "analysis/localise/accesses.h"
#include "trace/words.h"

namespace heddle::analysis {
namespace {

using trace::EventKind;

/// An event as breakpoints see it.
struct Stop {
  std::string thread;
  trace::PinPlace place;
  std::uint32_t visit = 1;
  std::size_t when = 0;  // event of the failed run; beyond its end if it did not come to it
  trace::PinMoment moment = trace::PinMoment::Before;
  bool is_wait = false;  // it ends only when somebody else acts
};

/// `after` waits until the thread of `begin` has done everything from `begin` to `end`.
struct Constraint {
  Stop begin;
  Stop end;
  Stop after;
};

/// Instructions that breakpoints can be put at: thread starts and ends, flushes and code of others
/// have no site of their own, and nobody wants one in a header of a library.
bool has_place(const trace::Site& site) {
  const trace::Frame* const frame = trace::source_frame(site);
  return frame != nullptr && !trace::is_system_header(frame->file) && !site.key.starts_with('<');
}

/// What a thread does when it comes back from a wait is at the place where it waits.
bool is_return(EventKind kind) {
  return kind == EventKind::CondWake || kind == EventKind::BarrierLeave ||
         kind == EventKind::FutexResume;
}
bool is_wait(EventKind kind) {
  return kind == EventKind::CondWait || kind == EventKind::BarrierWait ||
         kind == EventKind::FutexWait;
}

trace::PinPlace place_of(const std::string& site, const trace::Frame& frame) {
  return {site, frame.file, frame.line, frame.function, {}};
}

bool is_usable(const FoundAccess& access) {
  return !access.frame.file.empty() && !access.point.site.starts_with('<');
}

/// Wherever `by` holds, `constraint` does: its first part is over before that of `by`, its second
/// comes later.
bool is_implied(const Constraint& constraint, const Constraint& by) {
  return constraint.end.thread == by.end.thread && constraint.after.thread == by.after.thread &&
         constraint.end.when <= by.end.when && by.after.when <= constraint.after.when;
}

/// Whether the thread does anything between two events of the failed run, both excluded.
bool is_busy_between(const trace::Trace& trace, const std::string& thread, std::size_t from,
                     std::size_t to) {
  for (std::size_t i = from + 1; i < std::min(to, trace.events.size()); ++i) {
    if (trace.threads[trace.events[i].thread].path == thread) return true;
  }
  return false;
}

/// Meeting at `by` (one thread before its action, the other waiting for it) already says that the
/// other has come so far; the action only has to begin early enough. The other must be able to wait
/// there by then: in the failed run it did nothing more in between.
bool is_met(const Constraint& constraint, const Constraint& by, const trace::Trace& trace) {
  return constraint.end.thread == by.after.thread && constraint.after.thread == by.end.thread &&
         constraint.end.when < by.after.when && constraint.after.when <= by.end.when &&
         !is_busy_between(trace, by.after.thread, constraint.after.when, by.after.when);
}

std::vector<Constraint> fewest(const std::vector<Constraint>& constraints,
                               const trace::Trace& trace) {
  std::vector<Constraint> needed;
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    bool implied = false;
    for (std::size_t k = 0; k < constraints.size() && !implied; ++k) {
      // Of two that imply one another the first stays.
      implied = i != k && is_implied(constraints[i], constraints[k]) &&
                (k < i || !is_implied(constraints[k], constraints[i]));
    }
    if (!implied) needed.push_back(constraints[i]);
  }
  std::ranges::sort(needed, std::ranges::greater{},
                    [](const Constraint& c) { return std::pair(c.after.when, c.end.when); });
  std::vector<Constraint> kept;
  for (const Constraint& constraint : needed) {
    const auto by = std::ranges::find_if(
        kept, [&](const Constraint& other) { return is_met(constraint, other, trace); });
    if (by == kept.end()) {
      kept.push_back(constraint);
    } else if (constraint.after.when < by->begin.when) {
      by->begin = constraint.after;
    }
  }
  std::ranges::reverse(kept);
  return kept;
}

/// How breakpoints see the events of a run: which of them are arrivals somewhere, and the how many
/// time its thread arrives there. A wait for a condition is two: before it, and when the thread,
/// woken, takes its mutex back.
class Arrivals {
 public:
  explicit Arrivals(const trace::Trace& trace) : trace_(trace), moments_(trace.events.size()) {
    std::map<trace::ThreadId, trace::SiteIndex> waits_at;
    for (std::size_t i = 0; i < trace.events.size(); ++i) {
      const trace::Event& event = trace.events[i];
      Moment moment;
      moment.is_arrival = event.site != trace::kNone && !is_return(event.kind);
      const auto wait = waits_at.find(event.thread);
      if (wait != waits_at.end() && event.kind == EventKind::MutexLock) {
        if (wait->second == event.site) moment.moment = trace::PinMoment::Woken;
        waits_at.erase(wait);
      }
      if (event.kind == EventKind::CondWait) waits_at[event.thread] = event.site;
      if (moment.is_arrival) moment.visit = ++counts_[key(event, moment.moment)];
      moments_[i] = moment;
    }
  }

  bool is_arrival(std::size_t event) const { return moments_[event].is_arrival; }
  /// Sets what only the run can say: a breakpoint must say which visit it means only if there are
  /// several.
  void describe(Stop& stop, std::size_t event) const {
    const Moment& moment = moments_[event];
    const bool is_often = counts_.at(key(trace_.events[event], moment.moment)) > 1;
    stop.moment = moment.moment;
    stop.visit = is_often ? moment.visit : 0;
    stop.is_wait = is_wait(trace_.events[event].kind);
  }

 private:
  struct Moment {
    bool is_arrival = false;
    trace::PinMoment moment = trace::PinMoment::Before;
    std::uint32_t visit = 0;
  };
  using Key = std::tuple<trace::ThreadId, trace::SiteIndex, trace::PinMoment>;
  static Key key(const trace::Event& event, trace::PinMoment moment) {
    return {event.thread, event.site, moment};
  }

  const trace::Trace& trace_;
  std::vector<Moment> moments_;
  std::map<Key, std::uint32_t> counts_;
};

/// A stop in a run, or nothing if breakpoints cannot be put there.
std::optional<Stop> stop_at(const Accesses& accesses, const Arrivals& arrivals, std::size_t event) {
  const trace::Trace& trace = accesses.trace();
  if (event >= trace.events.size() || !arrivals.is_arrival(event)) return std::nullopt;
  const trace::Site& site = trace.sites[trace.events[event].site];
  if (!has_place(site)) return std::nullopt;
  Stop stop{trace.threads[trace.events[event].thread].path,
            place_of(site.key, *trace::source_frame(site)), 0, event};
  arrivals.describe(stop, event);
  return stop;
}

/// `later`: when it is taken to be if the run did not come to it.
Stop stop_of(const FoundAccess& access, const Accesses& failed, const Arrivals& arrivals,
             std::size_t later) {
  if (access.event) {
    if (std::optional<Stop> stop = stop_at(failed, arrivals, *access.event)) return *stop;
  }
  const std::uint32_t visit = access.point.occurrence > 1 ? access.point.occurrence : 0;
  return {access.thread, place_of(access.point.site, access.frame), visit,
          access.event.value_or(later)};
}

trace::PinSide side_at(std::size_t number, const trace::PinPlace& place, std::uint32_t visit = 0) {
  trace::PinSide side;
  side.side = static_cast<std::uint32_t>(number);
  side.at = place;
  side.visit = visit;
  return side;
}

trace::PinSide side_at(std::size_t number, const Stop& stop) {
  trace::PinSide side = side_at(number, stop.place, stop.visit);
  side.moment = stop.moment;
  side.thread = stop.thread;
  return side;
}

trace::PinBreakpoint breakpoint_of(const Constraint& constraint, const std::string& name) {
  trace::PinBreakpoint breakpoint;
  breakpoint.name = name;
  trace::PinSide first = side_at(0, constraint.begin);
  // Who is about to wait has done what others can wait for: what he waits for is theirs to do.
  first.until = constraint.end.place;
  first.until_before = constraint.end.is_wait;
  const bool begins_there = *first.until == first.at && first.moment == trace::PinMoment::Before;
  if (first.until_before && begins_there) first.until.reset();
  const trace::PinSide second = side_at(1, constraint.after);
  const bool is_one_line = first.at.site == second.at.site && first.visit == second.visit &&
                           first.moment == second.moment;
  if (is_one_line) {
    first.side = trace::kEitherSide;
    first.thread.clear();
    breakpoint.at = {first};
  } else {
    breakpoint.at = {first, second};
  }
  return breakpoint;
}

trace::Pins pins_of(const std::vector<Constraint>& constraints) {
  trace::Pins pins;
  for (const Constraint& constraint : constraints) {
    pins.push_back(breakpoint_of(constraint, fmt::format("pin {}", pins.size() + 1)));
  }
  return pins;
}

/// Everybody holds what the next one wants: all meet where they are about to wait.
std::optional<trace::Pins> pins_of_cycle(const Finding& finding, const Accesses& failed,
                                         const Arrivals& arrivals) {
  trace::PinBreakpoint breakpoint;
  breakpoint.name = "pin 1";
  breakpoint.order_ms = -1;
  std::set<std::string> threads;
  for (const FoundPair& pair : finding.pairs) {
    if (!is_usable(pair.second)) return std::nullopt;
    if (!threads.insert(pair.second.thread).second) continue;
    const Stop stop = stop_of(pair.second, failed, arrivals, failed.trace().events.size());
    breakpoint.at.push_back(side_at(breakpoint.at.size(), stop));
  }
  breakpoint.sides = static_cast<std::uint32_t>(threads.size());
  if (breakpoint.sides < 2 || breakpoint.sides > 8) return std::nullopt;
  const trace::PinSide& one = breakpoint.at.front();
  if (std::ranges::all_of(breakpoint.at, [&](const trace::PinSide& side) {
        return side.at.site == one.at.site && side.visit == one.visit;
      })) {
    breakpoint.at.resize(1);
    breakpoint.at[0].side = trace::kEitherSide;
    breakpoint.at[0].thread.clear();
  }
  return trace::Pins{breakpoint};
}

std::vector<Constraint> constraints_of(const Finding& finding, const Accesses& failed,
                                       const Arrivals& arrivals) {
  const std::size_t events = failed.trace().events.size();
  std::vector<Constraint> constraints;
  const auto add = [&](const FoundAccess& first, const FoundAccess& second) {
    if (!is_usable(first) || !is_usable(second) || first.thread == second.thread) return;
    const Stop from = stop_of(first, failed, arrivals, events);
    constraints.push_back({from, from, stop_of(second, failed, arrivals, events + 1)});
  };
  for (const FoundPair& pair : finding.pairs) {
    add(pair.first, pair.second);
    // What was meant to be one step is interrupted: the rest of it comes after the other's access.
    for (const Region& region : finding.regions) {
      if (region.first.point == pair.first.point) add(pair.second, region.last);
    }
  }
  return constraints;
}

/// The stops of one thread while it was alone in the failed run.
using Stretch = std::vector<Stop>;

std::vector<Stretch> stretches_of(const Accesses& accesses, const Arrivals& arrivals) {
  std::vector<Stretch> stretches;
  for (std::size_t i = 0; i < accesses.trace().events.size(); ++i) {
    const std::optional<Stop> stop = stop_at(accesses, arrivals, i);
    if (!stop) continue;
    if (stretches.empty() || stretches.back().front().thread != stop->thread) {
      stretches.emplace_back();
    }
    stretches.back().push_back(*stop);
  }
  return stretches;
}

std::vector<Constraint> constraints_of_schedule(const Accesses& accesses,
                                                const Arrivals& arrivals) {
  const std::vector<Stretch> stretches = stretches_of(accesses, arrivals);
  std::vector<Constraint> constraints;
  for (std::size_t i = 0; i + 1 < stretches.size(); ++i) {
    const Stop& next = stretches[i + 1].front();
    // What creation and joining order anyway needs no breakpoint, and before a thread is created
    // nobody can wait for it.
    const auto begin = std::ranges::find_if(
        stretches[i], [&](const Stop& stop) { return !accesses.before(stop.when, next.when); });
    if (begin != stretches[i].end()) constraints.push_back({*begin, stretches[i].back(), next});
  }
  if (stretches.empty()) return constraints;
  // Whoever had not ended when the run did stays where he was.
  const Stretch& last = stretches.back();
  std::map<std::string, Stop> where;
  for (const Stretch& stretch : stretches) where[stretch.front().thread] = stretch.back();
  const trace::Trace& trace = accesses.trace();
  for (const trace::Event& event : trace.events) {
    if (event.kind == trace::EventKind::ThreadExit) where.erase(trace.threads[event.thread].path);
  }
  where.erase(last.front().thread);
  for (auto& [thread, stop] : where) {
    // Who waits there stays there by himself.
    if (stop.is_wait) continue;
    stop.moment = trace::PinMoment::Behind;
    stop.when = trace.events.size();
    constraints.push_back({last.front(), last.back(), stop});
  }
  return constraints;
}

/// All who had not ended meet where they were last: who is alone in failing never comes, and the
/// others are still there then. For threads that run the same code and cannot be told apart.
std::optional<trace::Pins> gathering(const Accesses& accesses, const Arrivals& arrivals) {
  const trace::Trace& trace = accesses.trace();
  std::map<std::string, Stop> where;
  for (const Stretch& stretch : stretches_of(accesses, arrivals)) {
    where[stretch.front().thread] = stretch.back();
  }
  for (const trace::Event& event : trace.events) {
    if (event.kind == trace::EventKind::ThreadExit) where.erase(trace.threads[event.thread].path);
  }
  trace::PinBreakpoint breakpoint;
  breakpoint.name = "pin 1";
  for (const auto& [thread, stop] : where) {
    // Who only creates and joins the others would wait for himself.
    if (trace.events[stop.when].kind == EventKind::ThreadCreate || stop.is_wait) continue;
    ++breakpoint.sides;
    trace::PinSide side = side_at(0, stop.place, stop.visit);
    side.side = trace::kEitherSide;
    side.moment = trace::PinMoment::Behind;
    if (std::ranges::find(breakpoint.at, side) == breakpoint.at.end()) {
      breakpoint.at.push_back(side);
    }
  }
  breakpoint.sides -= trace::PinBreakpoint{}.sides;
  if (breakpoint.sides < 3 || breakpoint.sides > 8) return std::nullopt;
  return trace::Pins{breakpoint};
}

/// A critical section a stop is in: its lock by a name that holds in other runs, too.
struct Held {
  std::string lock;
  Stop acquired;
  std::optional<Stop> released;
};

/// Critical sections round stops, from the failed run or, for what it did not come to, from the
/// passing run that is nearest.
class Sections {
 public:
  Sections(const Accesses& failed, const Arrivals& arrivals, const std::optional<Attempt>& nearest)
      : failed_(failed), arrivals_(arrivals) {
    if (nearest) nearest_.emplace(nearest->trace);
    if (nearest_) nearest_arrivals_.emplace(nearest_->trace());
  }

  /// From the outermost.
  std::vector<Held> round(const Stop& stop) const {
    const std::size_t later = failed_.trace().events.size();
    if (stop.when < later) return sections(failed_, arrivals_, stop.when, 0);
    if (!nearest_) return {};
    const Point point{stop.thread, stop.place.site, std::max(1u, stop.visit)};
    if (const auto event = nearest_->find(point)) {
      return sections(*nearest_, *nearest_arrivals_, *event, later);
    }
    return {};
  }

 private:
  std::vector<Held> sections(const Accesses& accesses, const Arrivals& arrivals, std::size_t event,
                             std::size_t later) const {
    std::vector<Held> held;
    for (const Section& section : accesses.sections(event)) {
      std::optional<Stop> acquired = stop_at(accesses, arrivals, section.acquired);
      if (!acquired) continue;
      std::optional<Stop> released = stop_at(accesses, arrivals, section.released);
      if (later != 0) {
        // What another run acquired, the failed run may have, too.
        const auto known = failed_.find(accesses.point(section.acquired));
        acquired->when = known ? *known : section.acquired + later;
        if (released) released->when += later;
      }
      held.push_back(
          {fmt::format("{}+{}", accesses.trace().objects[section.lock].name, section.offset),
           *acquired, released});
    }
    return held;
  }

  const Accesses& failed_;
  const Arrivals& arrivals_;
  std::optional<Accesses> nearest_;
  std::optional<Arrivals> nearest_arrivals_;
};

/// Nobody can wait for a thread that needs the lock he holds: of accesses under one lock the
/// critical sections are ordered instead.
std::vector<Constraint> round_locks(std::vector<Constraint> constraints, const Sections& sections) {
  for (Constraint& constraint : constraints) {
    const std::vector<Held> first = sections.round(constraint.end);
    const std::vector<Held> second = sections.round(constraint.after);
    const auto shared = [](const std::vector<Held>& held,
                           const std::vector<Held>& others) -> const Held* {
      for (const Held& one : held) {
        for (const Held& other : others) {
          if (one.lock == other.lock) return &one;
        }
      }
      return nullptr;
    };
    const Held* const earlier = shared(first, second);
    const Held* const later = shared(second, first);
    if (earlier == nullptr || later == nullptr) continue;
    if (earlier->acquired.when < constraint.begin.when) constraint.begin = earlier->acquired;
    if (earlier->released) constraint.end = *earlier->released;
    constraint.after = later->acquired;
  }
  return constraints;
}

trace::Pins without_actions(trace::Pins pins) {
  for (trace::PinBreakpoint& breakpoint : pins) {
    for (trace::PinSide& side : breakpoint.at) side.until.reset();
  }
  return pins;
}

}  // namespace

std::vector<PinProposal> propose_pins(const Localisation& localisation) {
  const trace::Trace& trace = localisation.failed.trace;
  const Accesses accesses(trace);
  const Arrivals arrivals(trace);
  const Sections sections(accesses, arrivals, localisation.nearest);
  std::vector<PinProposal> proposals;
  const auto add = [&](std::string origin, trace::Pins pins) {
    constexpr std::size_t kMost = 8;  // breakpoints; beyond that nobody would want to keep them
    if (pins.empty() || pins.size() > kMost) return;
    for (const PinProposal& known : proposals) {
      if (known.pins == pins) return;
    }
    proposals.push_back({std::move(origin), std::move(pins)});
  };
  for (const Finding& finding : localisation.findings) {
    const std::string origin = fmt::format("finding {}", finding.rank);
    if (finding.bug_class == BugClass::Deadlock) {
      if (auto pins = pins_of_cycle(finding, accesses, arrivals)) add(origin, std::move(*pins));
      continue;
    }
    const std::vector<Constraint> plain = constraints_of(finding, accesses, arrivals);
    for (const auto& constraints : {round_locks(plain, sections), plain}) {
      const trace::Pins pins = pins_of(fewest(constraints, trace));
      add(origin, pins);
      add(origin + ", without actions", without_actions(pins));
    }
  }
  const trace::Pins pins = pins_of(fewest(constraints_of_schedule(accesses, arrivals), trace));
  add("schedule", pins);
  add("schedule, without actions", without_actions(pins));
  if (auto together = gathering(accesses, arrivals))
    add("schedule, together", std::move(*together));
  return proposals;
}

std::vector<PinProposal> propose_pins(const trace::PinPlace& one, const trace::PinPlace& other,
                                      const std::string& origin) {
  std::vector<PinProposal> proposals;
  const auto add = [&](const trace::PinPlace& first, const trace::PinPlace& second) {
    trace::PinBreakpoint breakpoint;
    breakpoint.name = "pin 1";
    breakpoint.at = {side_at(0, first), side_at(1, second)};
    breakpoint.at[0].until = first;
    if (first == second) {
      breakpoint.at.resize(1);
      breakpoint.at[0].side = trace::kEitherSide;
    }
    proposals.push_back({origin, {breakpoint}});
  };
  add(one, other);
  if (!(one == other)) add(other, one);
  return proposals;
}

}  // namespace heddle::analysis
