// SPDX-License-Identifier: Apache-2.0
#include "analysis/pin/circumstances.h"

#include <algorithm>

#include "trace/words.h"

namespace heddle::analysis {

Circumstances::Marks Circumstances::locks_round(std::size_t event) const {
  Marks places;
  for (const Section& section : accesses_.sections(event)) {
    places.push_back(accesses_.trace().events[taken_at(section)].site);
  }
  return places;
}

/// Who comes back from a wait has the mutex from where he took it before he waited.
std::size_t Circumstances::taken_at(const Section& section) const {
  const std::vector<trace::Event>& events = accesses_.trace().events;
  const trace::Event& last = events[section.acquired];
  for (std::size_t i = section.acquired + 1; i-- > 0;) {
    const bool takes = events[i].kind == last.kind && events[i].thread == last.thread &&
                       events[i].object == last.object && events[i].offset == last.offset;
    if (takes && arrivals_.moment(i) != trace::PinMoment::Woken) return i;
  }
  return section.acquired;
}

/// The mark that tells most, and the visit to it.
template <typename MarksOf>
std::optional<std::pair<trace::SiteIndex, std::uint32_t>> Circumstances::telling(
    const Stop& stop, MarksOf marks_of) const {
  const std::vector<trace::Event>& events = accesses_.trace().events;
  if (stop.when >= events.size() || !arrivals_.is_arrival(stop.when)) return std::nullopt;
  std::vector<std::pair<std::size_t, Marks>> arrivals;  // at that place, by whomever
  for (std::size_t i = 0; i < events.size(); ++i) {
    const bool is_there = events[i].site == events[stop.when].site && arrivals_.is_arrival(i) &&
                          arrivals_.moment(i) == arrivals_.moment(stop.when);
    if (is_there) arrivals.emplace_back(i, marks_of(i));
  }
  const auto sharing = [&](trace::SiteIndex mark) {
    return std::ranges::count_if(
        arrivals, [&](const auto& it) { return std::ranges::count(it.second, mark) > 0; });
  };
  std::optional<trace::SiteIndex> best;
  auto fewest = static_cast<std::ptrdiff_t>(arrivals.size());
  for (const trace::SiteIndex mark : marks_of(stop.when)) {
    const std::ptrdiff_t count = mark == trace::kNone ? fewest + 1 : sharing(mark);
    if (count < fewest || (best && count == fewest)) {
      best = mark;
      fewest = count;
    }
  }
  if (!best) return std::nullopt;
  std::uint32_t visit = 0;
  std::uint32_t all = 0;
  for (const auto& [event, marks] : arrivals) {
    if (events[event].thread != events[stop.when].thread) continue;
    if (std::ranges::count(marks, *best) == 0) continue;
    ++all;
    if (event == stop.when) visit = all;
  }
  return std::pair(*best, all > 1 ? visit : 0);
}

std::optional<Circumstance> Circumstances::calling_context(const Stop& stop) const {
  const auto found = telling(stop, [&](std::size_t event) { return accesses_.calls().at(event); });
  if (!found) return std::nullopt;
  const trace::Site& function = accesses_.trace().sites[found->first];
  const trace::Frame* const frame = trace::source_frame(function);
  if (frame == nullptr) return std::nullopt;
  return Circumstance{{function.key, "", 0, frame->function, ""}, found->second};
}

std::optional<Circumstance> Circumstances::lock_held(const Stop& stop) const {
  const auto found = telling(stop, [&](std::size_t event) { return locks_round(event); });
  if (!found) return std::nullopt;
  const trace::Site& taken = accesses_.trace().sites[found->first];
  const trace::Frame* const frame = trace::source_frame(taken);
  if (frame == nullptr) return std::nullopt;
  return Circumstance{place_of(taken.key, *frame), found->second};
}

}  // namespace heddle::analysis
