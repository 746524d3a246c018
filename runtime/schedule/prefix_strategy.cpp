// SPDX-License-Identifier: Apache-2.0
#include "runtime/schedule/prefix_strategy.h"

namespace heddle::runtime {

void PrefixStrategy::begin_run(const abi::Options&, Plan plan, ThreadFinder find) {
  plan_ = plan;
  find_ = find;
  position_ = 0;
}

abi::ThreadIndex PrefixStrategy::choose(const SchedulingPoint& point) {
  if (point.enabled.count() > 1 && position_ < plan_.count) {
    const abi::PlanRecord& record = plan_.records[position_];
    if (record.kind != abi::DecisionKind::Thread) return abi::kNoThread;
    const abi::ThreadIndex target = find_(record.target);
    if (target == abi::kNoThread || !point.enabled.contains(target)) return abi::kNoThread;
    ++position_;
    return target;
  }
  return point.enabled.contains(point.current) ? point.current : point.enabled.nth(0);
}

std::uint32_t PrefixStrategy::choose_value(const SchedulingPoint&, std::uint32_t bound) {
  if (position_ == plan_.count) return 0;
  const abi::PlanRecord& record = plan_.records[position_];
  if (record.kind != abi::DecisionKind::Value || record.target >= bound) return kCannotFollow;
  ++position_;
  return static_cast<std::uint32_t>(record.target);
}

}  // namespace heddle::runtime
