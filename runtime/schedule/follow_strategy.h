// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/schedule/holds.h"
#include "runtime/schedule/strategy.h"
#include "runtime/schedule/visit_counter.h"

namespace heddle::runtime {

/// Takes each decision of the plan whose point is reached, in whatever order they come, and goes on
/// without preemption otherwise; threads that an order of the plan holds are passed over as long as
/// there is another. What replay is to a whole schedule, this is to a part of one: it never
/// diverges, it only does less.
class FollowStrategy final : public Strategy {
 public:
  void begin_run(const abi::Options& options, Plan plan, ThreadFinder find) override;
  abi::ThreadIndex choose(const SchedulingPoint& point) override;
  std::uint32_t choose_value(const SchedulingPoint& point, std::uint32_t bound) override;

 private:
  abi::ThreadIndex planned(const SchedulingPoint& point) const;
  const abi::PlanRecord* decision(abi::DecisionKind kind, const SchedulingPoint& point) const;

  Plan plan_{};
  ThreadFinder find_ = nullptr;
  VisitCounter visits_;
  Holds holds_;
};

}  // namespace heddle::runtime
