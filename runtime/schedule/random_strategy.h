// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/schedule/random.h"
#include "runtime/schedule/strategy.h"

namespace heddle::runtime {

/// Random walk: at each point every thread that can go on is equally likely.
class RandomStrategy final : public Strategy {
 public:
  void begin_run(const abi::Options& options, Plan plan, ThreadFinder find) override;
  abi::ThreadIndex choose(const SchedulingPoint& point) override;
  bool counts_when_alone() const override { return false; }
  std::uint32_t choose_value(const SchedulingPoint& point, std::uint32_t bound) override;

 private:
  Random random_;
};

}  // namespace heddle::runtime
