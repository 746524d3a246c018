// SPDX-License-Identifier: Apache-2.0
//
// The events of a run as breakpoints see them: where and when threads can be made to wait.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/localise/accesses.h"
#include "trace/pins.h"

namespace heddle::analysis {

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

/// Which events are arrivals somewhere, and the how many time its thread arrives there. A wait for
/// a condition is two: before it, and when the thread, woken, takes its mutex back.
class Arrivals {
 public:
  /// Keeps a reference to `trace`.
  explicit Arrivals(const trace::Trace& trace);

  bool is_arrival(std::size_t event) const { return moments_[event].is_arrival; }
  trace::PinMoment moment(std::size_t event) const { return moments_[event].moment; }
  /// Sets what only the run can say: a breakpoint must say which visit it means only if there are
  /// several.
  void describe(Stop& stop, std::size_t event) const;

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

trace::PinPlace place_of(const std::string& site, const trace::Frame& frame);

/// A stop in a run, or nothing if breakpoints cannot be put there.
std::optional<Stop> stop_at(const Accesses& accesses, const Arrivals& arrivals, std::size_t event);

}  // namespace heddle::analysis
