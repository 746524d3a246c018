// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/base/vector.h"
#include "runtime/schedule/strategy.h"

namespace heddle::runtime {

/// Follows a schedule: each plan record names the thread, the place and the how-manieth time there
/// at which to switch; between two records the running thread goes on. Whatever the schedule leaves
/// open (the running thread cannot go on, several others can, no record says which) is a
/// divergence, never a guess.
class ReplayStrategy final : public Strategy {
 public:
  void begin_run(const abi::Options& options, Plan plan, ThreadFinder find) override;
  abi::ThreadIndex choose(const SchedulingPoint& point) override;
  std::uint32_t choose_value(const SchedulingPoint& point, std::uint32_t bound) override;
  std::size_t plan_position() const override { return position_; }

 private:
  struct Visits {
    std::uint64_t thread;  // path hash; 0: free slot
    abi::SiteId site;
    std::uint32_t count;
  };

  Visits& visits(std::uint64_t thread, abi::SiteId site);
  bool next_is(abi::DecisionKind kind, const SchedulingPoint& point);
  void grow_table();

  Plan plan_{};
  ThreadFinder find_ = nullptr;
  std::size_t position_ = 0;
  Vector<Visits> table_;  // open addressing, a power of two, at most half full
  std::size_t used_ = 0;
};

}  // namespace heddle::runtime
