// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/base/vector.h"
#include "runtime/schedule/holds.h"
#include "runtime/schedule/strategy.h"
#include "runtime/schedule/visit_counter.h"

namespace heddle::runtime {

/// Takes each decision of the plan whose point is reached, in whatever order they come, and goes on
/// without preemption otherwise; threads that an order of the plan holds are passed over as long as
/// there is another. What replay is to a whole schedule, this is to a part of one: it never
/// diverges, it only does less. Where the plan says nothing and the running thread cannot go
/// on, the seed says in which order the others come: 0 the eldest first, 1 the youngest first,
/// every other number an order of its own.
class FollowStrategy final : public Strategy {
 public:
  void begin_run(const abi::Options& options, Plan plan, ThreadFinder find) override;
  abi::ThreadIndex choose(const SchedulingPoint& point) override;
  void go_on_by(const abi::Options& options, Plan plan) override;
  void note_pending(std::uint64_t thread, abi::SiteId site) override { visits_.add(thread, site); }
  std::uint32_t choose_value(const SchedulingPoint& point, std::uint32_t bound) override;

 private:
  static constexpr std::uint64_t kEldestFirst = 0;
  static constexpr std::uint64_t kYoungestFirst = 1;

  abi::ThreadIndex planned(const SchedulingPoint& point) const;
  const abi::PlanRecord* decision(abi::DecisionKind kind, const SchedulingPoint& point) const;
  abi::ThreadIndex first_in_order(const SchedulingPoint& point) const;

  Plan plan_{};
  ThreadFinder find_ = nullptr;
  std::uint64_t order_ = kEldestFirst;
  Vector<std::uint32_t> table_;  // numbers of plan records from 1, hashed; 0: free
  VisitCounter visits_;
  Holds holds_;
};

}  // namespace heddle::runtime
