// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/schedule/random.h"
#include "runtime/schedule/strategy.h"
#include "runtime/schedule/thread_weights.h"

namespace heddle::runtime {

/// Uniform random walk (Zhao, Wolff, Mathur, Roychoudhury, "Selectively Uniform Concurrency
/// Testing", ASPLOS 2025): a thread is chosen with a probability in proportion to the operations it
/// still has before it, so that all interleavings are equally likely, where a plain walk favours
/// those in which short threads end early.
///
/// Deviations: operations are counted in an earlier run, whose schedule may have made them other
/// numbers; a thread beyond its count weighs as one that has a single operation left.
class UrwStrategy final : public Strategy {
 public:
  void begin_run(const abi::Options& options, Plan plan, ThreadFinder find) override;
  abi::ThreadIndex choose(const SchedulingPoint& point) override;
  std::uint32_t choose_value(const SchedulingPoint& point, std::uint32_t bound) override;

 private:
  Random random_;
  ThreadWeights weights_;
};

}  // namespace heddle::runtime
