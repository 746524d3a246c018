// SPDX-License-Identifier: Apache-2.0
#include "runtime/schedule/follow_strategy.h"

namespace heddle::runtime {

void FollowStrategy::begin_run(const abi::Options&, Plan plan, ThreadFinder find) {
  plan_ = plan;
  find_ = find;
  visits_.clear();
}

const abi::PlanRecord* FollowStrategy::decision(abi::DecisionKind kind,
                                                const SchedulingPoint& point) const {
  const std::uint32_t visit = visits_.count(point.current_hash, point.pending.site);
  for (std::size_t i = 0; i < plan_.count; ++i) {
    const abi::PlanRecord& record = plan_.records[i];
    if (record.thread == point.current_hash && record.site == point.pending.site &&
        record.occurrence == visit && record.kind == kind) {
      return &record;
    }
  }
  return nullptr;
}

abi::ThreadIndex FollowStrategy::choose(const SchedulingPoint& point) {
  visits_.add(point.current_hash, point.pending.site);
  if (const abi::PlanRecord* const record = decision(abi::DecisionKind::Thread, point)) {
    const abi::ThreadIndex target = find_(record->target);
    if (target != abi::kNoThread && point.enabled.contains(target)) return target;
  }
  return point.enabled.contains(point.current) ? point.current : point.enabled.nth(0);
}

std::uint32_t FollowStrategy::choose_value(const SchedulingPoint& point, std::uint32_t bound) {
  const abi::PlanRecord* const record = decision(abi::DecisionKind::Value, point);
  return record != nullptr && record->target < bound ? static_cast<std::uint32_t>(record->target)
                                                     : 0;
}

}  // namespace heddle::runtime
