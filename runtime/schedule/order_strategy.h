// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/schedule/strategy.h"

namespace heddle::runtime {

/// Enforces an order that was recorded while the threads ran in parallel: each plan record says
/// whose turn it is and for how many operations. A thread that should go on and cannot, or that is
/// about to do something at another place than the record says, is a divergence. Of several who
/// wait for the same the recorded run woke the eldest. Behind the plan, where the recorded run was
/// ended, the running thread goes on.
class OrderStrategy final : public Strategy {
 public:
  void begin_run(const abi::Options& options, Plan plan, ThreadFinder find) override;
  abi::ThreadIndex choose(const SchedulingPoint& point) override;
  std::uint32_t choose_value(const SchedulingPoint&, std::uint32_t) override { return 0; }
  std::size_t plan_position() const override { return position_; }

 private:
  Plan plan_{};
  ThreadFinder find_ = nullptr;
  std::size_t position_ = 0;
  std::uint32_t done_ = 0;  // operations of the record that is next
};

}  // namespace heddle::runtime
