// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/schedule/strategy.h"
#include "runtime/schedule/visit_counter.h"

namespace heddle::runtime {

/// Follows a schedule: each plan record names the thread, the place and the how-manieth time there
/// at which to switch; between two records the running thread goes on. Whatever the schedule leaves
/// open (the running thread cannot go on, several others can, no record says which) is a
/// divergence, never a guess.
class ReplayStrategy final : public Strategy {
 public:
  void begin_run(const abi::Options& options, Plan plan, ThreadFinder find) override;
  abi::ThreadIndex choose(const SchedulingPoint& point) override;
  void note_pending(std::uint64_t thread, abi::SiteId site) override { visits_.add(thread, site); }
  std::uint32_t choose_value(const SchedulingPoint& point, std::uint32_t bound) override;
  std::size_t plan_position() const override { return position_; }

 private:
  bool next_is(abi::DecisionKind kind, const SchedulingPoint& point) const;

  Plan plan_{};
  ThreadFinder find_ = nullptr;
  std::size_t position_ = 0;
  VisitCounter visits_;
};

}  // namespace heddle::runtime
