// SPDX-License-Identifier: Apache-2.0
#include "runtime/schedule/prefix_strategy.h"

namespace heddle::runtime {
namespace {

bool is_decision(const abi::PlanRecord& record) {
  return record.kind == abi::DecisionKind::Thread || record.kind == abi::DecisionKind::Value;
}

}  // namespace

void PrefixStrategy::begin_run(const abi::Options&, Plan plan, ThreadFinder find) {
  plan_ = plan;
  find_ = find;
  position_ = first_decision();
  spin_.begin_run();
}

/// Only where nobody has had a choice so far.
void PrefixStrategy::go_on_by(const abi::Options&, Plan plan) {
  plan_ = plan;
  position_ = first_decision();
  spin_.begin_run();  // whoever goes on from here knows no more
}

std::size_t PrefixStrategy::first_decision() const {
  std::size_t position = 0;
  while (position < plan_.count && !is_decision(plan_.records[position])) ++position;
  return position;
}

abi::ThreadIndex PrefixStrategy::choose(const SchedulingPoint& point) {
  const bool gives_way = spin_.gives_way(point);
  if (point.enabled.count() > 1 && position_ < plan_.count) {
    const abi::PlanRecord& record = plan_.records[position_];
    if (record.kind != abi::DecisionKind::Thread) return abi::kNoThread;
    const abi::ThreadIndex target = find_(record.target);
    if (target == abi::kNoThread || !point.enabled.contains(target)) return abi::kNoThread;
    ++position_;
    return target;
  }
  if (!point.enabled.contains(point.current)) return point.enabled.nth(0);
  return gives_way ? next_in_circle(point.enabled, point.current) : point.current;
}

std::uint32_t PrefixStrategy::choose_value(const SchedulingPoint&, std::uint32_t bound) {
  if (position_ == plan_.count) return 0;
  const abi::PlanRecord& record = plan_.records[position_];
  if (record.kind != abi::DecisionKind::Value || record.target >= bound) return kCannotFollow;
  ++position_;
  return static_cast<std::uint32_t>(record.target);
}

}  // namespace heddle::runtime
