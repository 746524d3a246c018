// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/schedule/pos_strategy.h"

namespace heddle::runtime {

/// Takes the plan's answers in order at points where there is a choice, as the prefix strategy
/// does, then goes on with partial order sampling: another run from a point at which an earlier one
/// had come to something rare. A plan that cannot be followed is followed as far as it can.
class ResumeStrategy final : public Strategy {
 public:
  void begin_run(const abi::Options& options, Plan plan, ThreadFinder find) override;
  abi::ThreadIndex choose(const SchedulingPoint& point) override;
  std::uint32_t choose_value(const SchedulingPoint& point, std::uint32_t bound) override;
  std::size_t plan_position() const override { return position_; }

 private:
  Plan plan_{};
  ThreadFinder find_ = nullptr;
  std::size_t position_ = 0;
  PosStrategy then_;
};

}  // namespace heddle::runtime
