// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/schedule/spin_watch.h"
#include "runtime/schedule/strategy.h"

namespace heddle::runtime {

/// Takes the plan's answers in order at points where there is a choice, then goes on without
/// preemption: the running thread as long as it can and does not merely wait by spinning, else the
/// next (when it gives way) or the eldest (when it cannot go on). With an empty plan this is the
/// sequential run. A systematic search in the driver enumerates prefixes.
class PrefixStrategy final : public Strategy {
 public:
  void begin_run(const abi::Options& options, Plan plan, ThreadFinder find) override;
  void go_on_by(const abi::Options& options, Plan plan) override;
  abi::ThreadIndex choose(const SchedulingPoint& point) override;
  std::uint32_t choose_value(const SchedulingPoint& point, std::uint32_t bound) override;
  std::size_t plan_position() const override { return position_; }

 private:
  std::size_t first_decision() const;

  Plan plan_{};
  ThreadFinder find_ = nullptr;
  std::size_t position_ = 0;
  SpinWatch spin_;
};

}  // namespace heddle::runtime
