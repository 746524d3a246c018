// SPDX-License-Identifier: Apache-2.0
#include "analysis/pin/propose.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "abi/names.h"
#include "analysis/localise/accesses.h"
#include "analysis/pin/circumstances.h"
#include "analysis/pin/round_locks.h"
#include "analysis/pin/stops.h"

namespace heddle::analysis {
namespace {

using trace::EventKind;

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

/// By what arrivals at a place are told apart, besides visits and threads.
enum class Precision : std::uint8_t { Place, Context, LockHeld };

/// Makes sides of stops.
class Sides {
 public:
  Sides(const Circumstances& circumstances, Precision precision)
      : circumstances_(circumstances), precision_(precision) {}

  trace::PinSide at(std::size_t number, const Stop& stop) const {
    trace::PinSide side = side_at(number, stop);
    if (precision_ == Precision::Context) {
      refine(side, side.within, circumstances_.calling_context(stop));
    } else if (precision_ == Precision::LockHeld) {
      refine(side, side.holding, circumstances_.lock_held(stop));
    }
    return side;
  }

 private:
  static void refine(trace::PinSide& side, std::optional<trace::PinPlace>& by,
                     const std::optional<Circumstance>& circumstance) {
    if (!circumstance) return;
    by = circumstance->place;
    side.visit = circumstance->visit;
  }

  const Circumstances& circumstances_;
  Precision precision_;
};

trace::PinBreakpoint breakpoint_of(const Constraint& constraint, const std::string& name,
                                   const Sides& sides) {
  trace::PinBreakpoint breakpoint;
  breakpoint.name = name;
  trace::PinSide first = sides.at(0, constraint.begin);
  // Who is about to wait has done what others can wait for: what he waits for is theirs to do.
  first.until = constraint.end.place;
  first.until_before = constraint.end.is_wait;
  const bool begins_there = *first.until == first.at && first.moment == trace::PinMoment::Before;
  if (first.until_before && begins_there) first.until.reset();
  const trace::PinSide second = sides.at(1, constraint.after);
  const bool is_one_line = first.at.site == second.at.site && first.visit == second.visit &&
                           first.moment == second.moment && first.within == second.within &&
                           first.holding == second.holding;
  if (is_one_line) {
    first.side = trace::kEitherSide;
    first.thread.clear();
    breakpoint.at = {first};
  } else {
    breakpoint.at = {first, second};
  }
  return breakpoint;
}

trace::Pins pins_of(const std::vector<Constraint>& constraints, const Sides& sides) {
  trace::Pins pins;
  for (const Constraint& constraint : constraints) {
    pins.push_back(breakpoint_of(constraint, fmt::format("pin {}", pins.size() + 1), sides));
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

/// Where everybody was last who had not ended when the run did, by thread.
std::map<std::string, Stop> last_stops(const std::vector<Stretch>& stretches,
                                       const trace::Trace& trace) {
  std::map<std::string, Stop> where;
  for (const Stretch& stretch : stretches) where[stretch.front().thread] = stretch.back();
  for (const trace::Event& event : trace.events) {
    if (event.kind == trace::EventKind::ThreadExit) where.erase(trace.threads[event.thread].path);
  }
  return where;
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
  const trace::Trace& trace = accesses.trace();
  std::map<std::string, Stop> where = last_stops(stretches, trace);
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

/// The state in which the last thread of the run failed: all others stand where they were last, at
/// the same time, and it goes on. For failures that need three threads or more at once, which no
/// breakpoints of two sides make a state of.
std::optional<trace::Pins> standing_by(const Accesses& accesses, const Arrivals& arrivals) {
  const std::vector<Stretch> stretches = stretches_of(accesses, arrivals);
  if (stretches.empty()) return std::nullopt;
  const trace::Trace& trace = accesses.trace();
  const Stretch& last = stretches.back();
  std::map<std::string, Stop> where = last_stops(stretches, trace);
  where.erase(last.front().thread);
  std::erase_if(where, [&](const auto& entry) {
    const Stop& stop = entry.second;
    return stop.is_wait || trace.events[stop.when].kind == EventKind::ThreadCreate;
  });
  if (where.size() < 2 || where.size() > 7) return std::nullopt;
  // Creation orders its first steps with the others': nobody stands anywhere before that.
  const auto begin = std::ranges::find_if(last, [&](const Stop& stop) {
    return std::ranges::none_of(
        where, [&](const auto& entry) { return accesses.before(stop.when, entry.second.when); });
  });
  if (begin == last.end()) return std::nullopt;
  trace::PinBreakpoint breakpoint;
  breakpoint.name = "pin 1";
  breakpoint.at.push_back(side_at(0, *begin));
  breakpoint.at[0].until = last.back().place;
  for (auto& [thread, stop] : where) {
    stop.moment = trace::PinMoment::Behind;
    breakpoint.at.push_back(side_at(breakpoint.at.size(), stop));
  }
  breakpoint.sides = static_cast<std::uint32_t>(breakpoint.at.size());
  return trace::Pins{breakpoint};
}

/// All who had not ended meet where they were last: who is alone in failing never comes, and the
/// others are still there then. For threads that run the same code and cannot be told apart.
std::optional<trace::Pins> gathering(const Accesses& accesses, const Arrivals& arrivals) {
  const trace::Trace& trace = accesses.trace();
  trace::PinBreakpoint breakpoint;
  breakpoint.name = "pin 1";
  for (const auto& [thread, stop] : last_stops(stretches_of(accesses, arrivals), trace)) {
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

/// A function that everybody calls is no telling place to wait in: the calling context is. What its
/// caller did last (nearly always: reading what it passes on) stands for the call.
std::vector<Constraint> at_callers(std::vector<Constraint> constraints, const Accesses& failed,
                                   const Arrivals& arrivals) {
  constexpr std::size_t kFar = 8;  // events of the thread between the call and the place
  const trace::Trace& trace = failed.trace();
  for (Constraint& constraint : constraints) {
    Stop& after = constraint.after;
    if (after.visit == 0 || after.when >= trace.events.size()) continue;
    std::size_t own = 0;
    for (std::size_t i = after.when; i-- > 0 && own < kFar;) {
      const trace::Event& event = trace.events[i];
      if (trace.threads[event.thread].path != after.thread) continue;
      ++own;
      if (abi::access_of(event.kind) == abi::Access::Sync) break;  // it may wait for others
      const std::optional<Stop> stop = stop_at(failed, arrivals, i);
      if (!stop || stop->place.function == after.place.function) continue;
      after = *stop;
      break;
    }
  }
  return constraints;
}

trace::Pins without_actions(trace::Pins pins) {
  for (trace::PinBreakpoint& breakpoint : pins) {
    for (trace::PinSide& side : breakpoint.at) side.until.reset();
  }
  return pins;
}

/// What has been proposed so far, each once.
class Proposals {
 public:
  explicit Proposals(const Circumstances& circumstances) : circumstances_(circumstances) {}

  void add(PinProposal proposal) {
    constexpr std::size_t kMost = 8;  // breakpoints; beyond that nobody would want to keep them
    if (proposal.pins.empty() || proposal.pins.size() > kMost) return;
    for (const PinProposal& known : all_) {
      if (known.pins == proposal.pins) return;
    }
    all_.push_back(std::move(proposal));
  }

  /// The breakpoints of these constraints, with and without actions.
  void add(const std::string& origin, const std::vector<Constraint>& constraints) {
    const auto at = [&](Precision precision) {
      return pins_of(constraints, Sides(circumstances_, precision));
    };
    PinProposal whole{origin, at(Precision::Place)};
    PinProposal shortened{origin + ", without actions", without_actions(whole.pins)};
    for (const auto& [precision, how] : {std::pair(Precision::Context, ", in context"),
                                         std::pair(Precision::LockHeld, ", lock held")}) {
      trace::Pins pins = at(precision);
      if (pins == whole.pins) continue;
      shortened.refined.push_back({how, without_actions(pins)});
      whole.refined.push_back({how, std::move(pins)});
    }
    add(std::move(whole));
    add(std::move(shortened));
  }

  std::vector<PinProposal> take() { return std::move(all_); }

 private:
  const Circumstances& circumstances_;
  std::vector<PinProposal> all_;
};

}  // namespace

std::vector<PinProposal> propose_pins(const Localisation& localisation) {
  const trace::Trace& trace = localisation.failed.trace;
  const Accesses accesses(trace);
  const Arrivals arrivals(trace);
  const Sections sections(accesses, arrivals, localisation.nearest);
  const Circumstances circumstances(accesses, arrivals);
  Proposals proposals(circumstances);
  for (const Finding& finding : localisation.findings) {
    const std::string origin = fmt::format("finding {}", finding.rank);
    if (finding.bug_class == BugClass::Deadlock) {
      if (auto pins = pins_of_cycle(finding, accesses, arrivals)) {
        proposals.add({origin, std::move(*pins)});
      }
      continue;
    }
    const std::vector<Constraint> plain = constraints_of(finding, accesses, arrivals);
    for (const auto& constraints :
         {round_locks(plain, sections), plain, at_callers(plain, accesses, arrivals)}) {
      proposals.add(origin, fewest(constraints, trace));
    }
  }
  proposals.add("schedule", fewest(constraints_of_schedule(accesses, arrivals), trace));
  if (auto pins = standing_by(accesses, arrivals)) {
    proposals.add({"schedule, all standing by", std::move(*pins)});
  }
  if (auto together = gathering(accesses, arrivals)) {
    proposals.add({"schedule, together", std::move(*together)});
  }
  return proposals.take();
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
