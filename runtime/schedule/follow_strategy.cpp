// SPDX-License-Identifier: Apache-2.0
#include "runtime/schedule/follow_strategy.h"

namespace heddle::runtime {

void FollowStrategy::begin_run(const abi::Options&, Plan plan, ThreadFinder find) {
  plan_ = plan;
  find_ = find;
  visits_.clear();
  holds_.begin_run(plan);
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

/// Whom the plan names here, or kNoThread.
abi::ThreadIndex FollowStrategy::planned(const SchedulingPoint& point) const {
  const abi::PlanRecord* const record = decision(abi::DecisionKind::Thread, point);
  if (record == nullptr) return abi::kNoThread;
  const abi::ThreadIndex target = find_(record->target);
  return target != abi::kNoThread && point.enabled.contains(target) ? target : abi::kNoThread;
}

abi::ThreadIndex FollowStrategy::choose(const SchedulingPoint& point) {
  visits_.add(point.current_hash, point.pending.site);
  abi::ThreadIndex chosen = planned(point);
  if (chosen == abi::kNoThread) {
    chosen = point.enabled.contains(point.current) ? point.current : point.enabled.nth(0);
  }
  if (holds_.empty()) return chosen;
  if (holds_.holds(point, chosen) != Holds::kFree) {
    const bool stays =
        point.enabled.contains(point.current) && holds_.holds(point, point.current) == Holds::kFree;
    chosen = stays ? point.current : holds_.weakest(point);
  }
  holds_.passes(point, chosen);
  return chosen;
}

std::uint32_t FollowStrategy::choose_value(const SchedulingPoint& point, std::uint32_t bound) {
  const abi::PlanRecord* const record = decision(abi::DecisionKind::Value, point);
  return record != nullptr && record->target < bound ? static_cast<std::uint32_t>(record->target)
                                                     : 0;
}

}  // namespace heddle::runtime
