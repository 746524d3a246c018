// SPDX-License-Identifier: Apache-2.0
#include "driver/stems.h"

#include <algorithm>

namespace heddle::driver {

std::uint64_t Stems::in_common(std::uint64_t one, std::uint64_t two) const {
  std::uint64_t events = ~std::uint64_t{0};
  while (one != two) {  // whatever an execution has something in common with came before it
    std::uint64_t& later = one > two ? one : two;
    const analysis::Common& common = executions_[later - 1];
    if (common.attempt == 0) return 0;
    events = std::min(events, common.events);
    later = common.attempt;
  }
  return events;
}

void Stems::set(Target& target, Stem& stem, std::uint64_t execution, std::uint64_t events) {
  if (stem.events != 0 || events != 0) target.begin_behind(events);
  stem = {execution, events, 0, true, stem.in_vain};
}

// The event after the last of a stem is under way where it ends.
Stems::Next Stems::before(Target& target, const analysis::Common& common) {
  std::unique_lock lock(mutex_);
  executions_.push_back(common);
  const std::uint64_t number = executions_.size();
  Stem& stem = stems_[&target];
  stem.is_new = false;
  if (stem.events != 0 && stem.execution != 0) {
    const std::uint64_t shared = in_common(number, stem.execution);
    if (shared > stem.events) {
      stem.missed += shared - 1 - stem.events;
      if (stem.missed < shared) return {number, target};
    }
  }
  const std::uint64_t events =
      std::max(common.attempt != 0 ? common.events : 0, common.others_part);
  if (events > kWorth && stem.in_vain < kPatience) {
    set(target, stem, number, events - 1);
    return {number, target};
  }
  if (stem.events == 0 || stem.execution == 0) {
    set(target, stem, 0, 0);
    return {number, target};
  }
  std::unique_ptr<Target>& beside = beside_[&target];
  lock.unlock();  // nobody else looks at this one
  if (!beside) {
    beside = start_();
    beside->stay_on_one_cpu();
  }
  return {number, *beside};
}

std::uint64_t Stems::add(const analysis::Common& common) {
  const std::scoped_lock lock(mutex_);
  executions_.push_back(common);
  return executions_.size();
}

std::uint64_t Stems::after(const Target& target) {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t had = target.channel().header().stem.had;
  const auto found = stems_.find(&target);
  if (found == stems_.end()) return had;
  Stem& stem = found->second;
  if (had != 0) stem.in_vain = 0;
  if (stem.events != 0 && !stem.is_new && had == 0) ++stem.in_vain;
  return had;
}

void Stems::begin_search(Target& target, const analysis::Common& common) {
  const std::scoped_lock lock(mutex_);
  Stem& stem = stems_[&target];
  const bool is_there = stem.events != 0 && stem.execution != 0 && common.attempt != 0 &&
                        stem.events < common.events &&
                        in_common(common.attempt, stem.execution) > stem.events;
  if (is_there) return;
  const bool pays = common.events > kWorth && stem.in_vain < kPatience;
  set(target, stem, 0, pays ? common.events : 0);
}

void Stems::after_searched(Target& target) {
  const std::scoped_lock lock(mutex_);
  Stem& stem = stems_[&target];
  // It was made again, by a strategy that the others cannot go on from.
  if (stem.execution != 0 && target.channel().header().stem.had == 0) set(target, stem, 0, 0);
}

void Stems::begin_at_beginning(Target& target) {
  const std::scoped_lock lock(mutex_);
  set(target, stems_[&target], 0, 0);
}

}  // namespace heddle::driver
