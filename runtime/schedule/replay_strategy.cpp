// SPDX-License-Identifier: Apache-2.0
#include "runtime/schedule/replay_strategy.h"

namespace heddle::runtime {

void ReplayStrategy::begin_run(const abi::Options&, Plan plan, ThreadFinder find) {
  plan_ = plan;
  find_ = find;
  position_ = 0;
  visits_.clear();
}

bool ReplayStrategy::next_is(abi::DecisionKind kind, const SchedulingPoint& point) const {
  if (position_ == plan_.count) return false;
  const abi::PlanRecord& record = plan_.records[position_];
  return record.kind == kind && record.thread == point.current_hash &&
         record.site == point.pending.site &&
         record.occurrence == visits_.count(point.current_hash, point.pending.site);
}

abi::ThreadIndex ReplayStrategy::choose(const SchedulingPoint& point) {
  visits_.add(point.current_hash, point.pending.site);
  if (next_is(abi::DecisionKind::Thread, point)) {
    const abi::ThreadIndex target = find_(plan_.records[position_].target);
    if (target == abi::kNoThread || !point.enabled.contains(target)) return abi::kNoThread;
    ++position_;
    return target;
  }
  if (point.enabled.contains(point.current)) return point.current;
  return point.enabled.count() == 1 ? point.enabled.nth(0) : abi::kNoThread;
}

std::uint32_t ReplayStrategy::choose_value(const SchedulingPoint& point, std::uint32_t bound) {
  if (!next_is(abi::DecisionKind::Value, point)) return kCannotFollow;
  const std::uint64_t value = plan_.records[position_].target;
  if (value >= bound) return kCannotFollow;
  ++position_;
  return static_cast<std::uint32_t>(value);
}

}  // namespace heddle::runtime
