// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/schedule/random.h"
#include "runtime/schedule/strategy.h"

namespace heddle::runtime {

/// Partial order sampling (Yuan, Yang, Gu, CAV 2018): every pending operation has a random priority
/// and the highest goes first; when it has run, the priorities of pending operations in conflict
/// with it are drawn again, so that the orders of a race are equally likely whatever else happens
/// between.
///
/// Deviations: operations of synchronisation on one object conflict as writes do; memory is told
/// apart in units of eight bytes. Now and then all priorities are drawn again: threads
/// that spin draw new ones all the time, and would starve the one they wait for if its were low.
class PosStrategy final : public Strategy {
 public:
  void begin_run(const abi::Options& options, Plan plan, ThreadFinder find) override;
  abi::ThreadIndex choose(const SchedulingPoint& point) override;
  std::uint32_t choose_value(const SchedulingPoint& point, std::uint32_t bound) override;

  /// The same choice among some of the enabled threads only: for strategies that hold others back.
  abi::ThreadIndex choose_among(const SchedulingPoint& point, const ThreadSet& candidates);

 private:
  static constexpr std::uint32_t kRedrawEvery = 512;

  Random random_;
  std::uint32_t choices_ = 0;
  std::uint64_t priority_[abi::kMaxThreads] = {};  // of the pending operation; 0: not drawn yet
};

}  // namespace heddle::runtime
