// SPDX-License-Identifier: Apache-2.0
#include "runtime/schedule/resume_strategy.h"

namespace heddle::runtime {

void ResumeStrategy::begin_run(const abi::Options& options, Plan plan, ThreadFinder find) {
  plan_ = plan;
  find_ = find;
  position_ = 0;
  // What the run is to leave out comes before the decisions.
  while (position_ < plan_.count && plan_.records[position_].kind != abi::DecisionKind::Thread &&
         plan_.records[position_].kind != abi::DecisionKind::Value) {
    ++position_;
  }
  then_.begin_run(options, plan, find);
}

abi::ThreadIndex ResumeStrategy::choose(const SchedulingPoint& point) {
  if (position_ == plan_.count) return then_.choose(point);
  if (point.enabled.count() == 1) return point.enabled.nth(0);
  const abi::PlanRecord& record = plan_.records[position_++];
  if (record.kind == abi::DecisionKind::Thread) {
    const abi::ThreadIndex target = find_(record.target);
    if (target != abi::kNoThread && point.enabled.contains(target)) return target;
  }
  position_ = plan_.count;
  return then_.choose(point);
}

std::uint32_t ResumeStrategy::choose_value(const SchedulingPoint& point, std::uint32_t bound) {
  if (position_ < plan_.count) {
    const abi::PlanRecord& record = plan_.records[position_++];
    if (record.kind == abi::DecisionKind::Value && record.target < bound) {
      return static_cast<std::uint32_t>(record.target);
    }
    position_ = plan_.count;
  }
  return then_.choose_value(point, bound);
}

}  // namespace heddle::runtime
