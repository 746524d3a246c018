// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/schedule/random.h"
#include "runtime/schedule/spin_watch.h"
#include "runtime/schedule/strategy.h"

namespace heddle::runtime {

/// Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010):
/// the thread of highest random priority runs; at depth - 1 random steps of the run it falls below
/// all others.
///
/// Deviations: steps are points with a choice, which is what `length` counts; where the length is
/// not known (0) it is guessed anew for each run. A thread that yields or spins falls lowest too,
/// or a run whose most important thread waits for another would never end.
class PctStrategy final : public Strategy {
 public:
  void begin_run(const abi::Options& options, Plan plan, ThreadFinder find) override;
  abi::ThreadIndex choose(const SchedulingPoint& point) override;
  std::uint32_t choose_value(const SchedulingPoint& point, std::uint32_t bound) override;

 private:
  static constexpr std::uint32_t kMaxChanges = 64;

  abi::ThreadIndex most_important(const ThreadSet& enabled);
  void lower(abi::ThreadIndex thread) { priority_[thread] = --lowest_; }

  Random random_;
  SpinWatch spin_;
  std::uint64_t changes_[kMaxChanges] = {};  // steps at which to change, in any order
  std::uint32_t change_count_ = 0;
  std::uint64_t step_ = 0;
  std::uint64_t lowest_ = 0;                       // of all priorities given so far
  std::uint64_t priority_[abi::kMaxThreads] = {};  // 0: none yet
};

}  // namespace heddle::runtime
