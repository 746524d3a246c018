// SPDX-License-Identifier: Apache-2.0
#include "analysis/pin/round_locks.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::analysis {

Sections::Sections(const Accesses& failed, const Arrivals& arrivals,
                   const std::optional<Attempt>& nearest)
    : failed_(failed), arrivals_(arrivals) {
  if (nearest) nearest_.emplace(nearest->trace);
  if (nearest_) nearest_arrivals_.emplace(nearest_->trace());
}

std::vector<Held> Sections::round(const Stop& stop) const {
  const std::size_t later = failed_.trace().events.size();
  if (stop.when < later) return sections(failed_, arrivals_, stop.when, 0);
  if (!nearest_) return {};
  const Point point{stop.thread, stop.place.site, std::max(1u, stop.visit)};
  if (const auto event = nearest_->find(point)) {
    return sections(*nearest_, *nearest_arrivals_, *event, later);
  }
  return {};
}

std::vector<Held> Sections::sections(const Accesses& accesses, const Arrivals& arrivals,
                                     std::size_t event, std::size_t later) const {
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

}  // namespace heddle::analysis
