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

/// An event as breakpoints see it.
struct Stop {
  std::string thread;
  trace::PinPlace place;
  std::uint32_t visit = 1;
  std::size_t when = 0;  // event of the failed run; beyond its end if it did not come to it
  bool behind = false;   // the thread stops when it has done this, not before
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

trace::PinPlace place_of(const std::string& site, const trace::Frame& frame) {
  return {site, frame.file, frame.line, frame.function, {}};
}

Stop stop_of(const FoundAccess& access, std::size_t events) {
  return {access.thread, place_of(access.point.site, access.frame), access.point.occurrence,
          access.event.value_or(events)};
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

/// How often a thread is at a site in the failed run: a breakpoint there must say which time it
/// means only if it is more than once.
class Visits {
 public:
  explicit Visits(const trace::Trace& trace) {
    for (const trace::Event& event : trace.events) {
      if (event.site == trace::kNone) continue;
      ++counts_[{trace.threads[event.thread].path, trace.sites[event.site].key}];
    }
  }
  std::uint32_t which(const Stop& stop) const {
    const auto found = counts_.find({stop.thread, stop.place.site});
    const bool is_often = found != counts_.end() && found->second > 1;
    return is_often || stop.visit > 1 ? stop.visit : 0;
  }

 private:
  std::map<std::pair<std::string, std::string>, std::uint32_t> counts_;
};

trace::PinSide side_at(std::size_t number, const trace::PinPlace& place, std::uint32_t visit = 0) {
  trace::PinSide side;
  side.side = static_cast<std::uint32_t>(number);
  side.at = place;
  side.visit = visit;
  return side;
}

trace::PinBreakpoint breakpoint_of(const Constraint& constraint, const Visits& visits,
                                   const std::string& name) {
  trace::PinBreakpoint breakpoint;
  breakpoint.name = name;
  trace::PinSide first = side_at(0, constraint.begin.place, visits.which(constraint.begin));
  first.until = constraint.end.place;
  trace::PinSide second = side_at(1, constraint.after.place, visits.which(constraint.after));
  second.behind = constraint.after.behind;
  if (first.at.site == second.at.site && first.visit == second.visit && !second.behind) {
    first.side = trace::kEitherSide;
    breakpoint.at = {first};
  } else {
    breakpoint.at = {first, second};
  }
  return breakpoint;
}

trace::Pins pins_of(const std::vector<Constraint>& constraints, const Visits& visits) {
  trace::Pins pins;
  for (const Constraint& constraint : constraints) {
    pins.push_back(breakpoint_of(constraint, visits, fmt::format("pin {}", pins.size() + 1)));
  }
  return pins;
}

/// Everybody holds what the next one wants: all meet where they are about to wait.
std::optional<trace::Pins> pins_of_cycle(const Finding& finding, const Visits& visits,
                                         std::size_t events) {
  trace::PinBreakpoint breakpoint;
  breakpoint.name = "pin 1";
  breakpoint.order_ms = -1;
  std::set<std::string> threads;
  for (const FoundPair& pair : finding.pairs) {
    if (!is_usable(pair.second)) return std::nullopt;
    if (!threads.insert(pair.second.thread).second) continue;
    const Stop stop = stop_of(pair.second, events);
    breakpoint.at.push_back(side_at(breakpoint.at.size(), stop.place, visits.which(stop)));
  }
  breakpoint.sides = static_cast<std::uint32_t>(threads.size());
  if (breakpoint.sides < 2 || breakpoint.sides > 8) return std::nullopt;
  const trace::PinSide& one = breakpoint.at.front();
  if (std::ranges::all_of(breakpoint.at, [&](const trace::PinSide& side) {
        return side.at.site == one.at.site && side.visit == one.visit;
      })) {
    breakpoint.at.resize(1);
    breakpoint.at[0].side = trace::kEitherSide;
  }
  return trace::Pins{breakpoint};
}

std::vector<Constraint> constraints_of(const Finding& finding, std::size_t events) {
  std::vector<Constraint> constraints;
  const auto add = [&](const FoundAccess& first, const FoundAccess& second) {
    if (!is_usable(first) || !is_usable(second) || first.thread == second.thread) return;
    const Stop from = stop_of(first, events);
    constraints.push_back({from, from, stop_of(second, events + 1)});
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

std::vector<Stretch> stretches_of(const Accesses& accesses) {
  const trace::Trace& trace = accesses.trace();
  std::vector<Stretch> stretches;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const trace::Event& event = trace.events[i];
    if (event.site == trace::kNone || !has_place(trace.sites[event.site])) continue;
    const trace::Site& site = trace.sites[event.site];
    const Stop stop{trace.threads[event.thread].path,
                    place_of(site.key, *trace::source_frame(site)), accesses.occurrence(i), i};
    if (stretches.empty() || stretches.back().front().thread != stop.thread) {
      stretches.emplace_back();
    }
    stretches.back().push_back(stop);
  }
  return stretches;
}

std::vector<Constraint> constraints_of_schedule(const Accesses& accesses) {
  const std::vector<Stretch> stretches = stretches_of(accesses);
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
    stop.behind = true;
    stop.when = trace.events.size();
    constraints.push_back({last.front(), last.back(), stop});
  }
  return constraints;
}

/// All who had not ended meet where they were last: who is alone in failing never comes, and the
/// others are still there then. For threads that run the same code and cannot be told apart.
std::optional<trace::Pins> gathering(const Accesses& accesses, const Visits& visits) {
  const trace::Trace& trace = accesses.trace();
  std::map<std::string, Stop> where;
  for (const Stretch& stretch : stretches_of(accesses)) {
    where[stretch.front().thread] = stretch.back();
  }
  for (const trace::Event& event : trace.events) {
    if (event.kind == trace::EventKind::ThreadExit) where.erase(trace.threads[event.thread].path);
  }
  trace::PinBreakpoint breakpoint;
  breakpoint.name = "pin 1";
  for (const auto& [thread, stop] : where) {
    // Who only creates and joins the others would wait for himself.
    if (trace.events[stop.when].kind == trace::EventKind::ThreadCreate) continue;
    ++breakpoint.sides;
    trace::PinSide side = side_at(0, stop.place, visits.which(stop));
    side.side = trace::kEitherSide;
    side.behind = true;
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
  Sections(const Accesses& failed, const std::optional<Attempt>& nearest) : failed_(failed) {
    if (nearest) nearest_.emplace(nearest->trace);
  }

  /// From the outermost.
  std::vector<Held> round(const Stop& stop) const {
    const Point point{stop.thread, stop.place.site, stop.visit};
    if (const auto event = failed_.find(point)) return sections(failed_, *event, 0);
    if (!nearest_) return {};
    const std::size_t later = failed_.trace().events.size();
    if (const auto event = nearest_->find(point)) return sections(*nearest_, *event, later);
    return {};
  }

 private:
  static std::optional<Stop> stop_at(const Accesses& accesses, std::size_t event,
                                     std::size_t later) {
    const trace::Trace& trace = accesses.trace();
    if (event >= trace.events.size()) return std::nullopt;
    const trace::SiteIndex site = trace.events[event].site;
    if (site == trace::kNone || !has_place(trace.sites[site])) return std::nullopt;
    return Stop{trace.threads[trace.events[event].thread].path,
                place_of(trace.sites[site].key, *trace::source_frame(trace.sites[site])),
                accesses.occurrence(event), event + later};
  }
  std::vector<Held> sections(const Accesses& accesses, std::size_t event, std::size_t later) const {
    std::vector<Held> held;
    for (const Section& section : accesses.sections(event)) {
      std::optional<Stop> acquired = stop_at(accesses, section.acquired, later);
      if (!acquired) continue;
      // What another run acquired, the failed run may have, too.
      if (later != 0) {
        const Point point{acquired->thread, acquired->place.site, acquired->visit};
        if (const auto known = failed_.find(point)) acquired->when = *known;
      }
      held.push_back(
          {fmt::format("{}+{}", accesses.trace().objects[section.lock].name, section.offset),
           *acquired, stop_at(accesses, section.released, later)});
    }
    return held;
  }

  const Accesses& failed_;
  std::optional<Accesses> nearest_;
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
  const std::size_t events = trace.events.size();
  const Accesses accesses(trace);
  const Visits visits(trace);
  const Sections sections(accesses, localisation.nearest);
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
      if (auto pins = pins_of_cycle(finding, visits, events)) add(origin, std::move(*pins));
      continue;
    }
    const std::vector<Constraint> plain = constraints_of(finding, events);
    for (const auto& constraints : {round_locks(plain, sections), plain}) {
      const trace::Pins pins = pins_of(fewest(constraints, trace), visits);
      add(origin, pins);
      add(origin + ", without actions", without_actions(pins));
    }
  }
  const trace::Pins pins = pins_of(fewest(constraints_of_schedule(accesses), trace), visits);
  add("schedule", pins);
  add("schedule, without actions", without_actions(pins));
  if (auto together = gathering(accesses, visits)) add("schedule, together", std::move(*together));
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
