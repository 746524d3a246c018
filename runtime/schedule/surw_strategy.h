// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/schedule/random.h"
#include "runtime/schedule/site_set.h"
#include "runtime/schedule/strategy.h"
#include "runtime/schedule/thread_weights.h"

namespace heddle::runtime {

/// Selectively uniform random walk (Zhao, Wolff, Mathur, Roychoudhury, ASPLOS 2025): all orders of
/// a few selected operations are equally likely, whatever lies between them. One thread at a time
/// is the one meant to do the next selected operation, drawn in proportion to how many of them it
/// still has; until it has done it, others go on at random but halt before theirs.
///
/// Deviations: selected are the sites at which an earlier run came to one shared location (records
/// of kind Select), for a location means nothing across runs; when everybody halts, or the thread
/// that is meant takes very long (it may spin, waiting for one that halts), a new one is drawn
/// among those that can go on.
class SurwStrategy final : public Strategy {
 public:
  void begin_run(const abi::Options& options, Plan plan, ThreadFinder find) override;
  abi::ThreadIndex choose(const SchedulingPoint& point) override;
  std::uint32_t choose_value(const SchedulingPoint& point, std::uint32_t bound) override;

 private:
  bool at_selected(const SchedulingPoint& point, abi::ThreadIndex thread) const {
    return selected_.contains(point.threads.pending_of(thread).site);
  }
  void draw_meant(const ThreadSet* among);

  static constexpr std::uint32_t kPatience = 512;

  Random random_;
  ThreadWeights weights_;
  SiteSet selected_;
  abi::ThreadIndex meant_ = abi::kNoThread;
  std::uint32_t waited_ = 0;  // choices since it was drawn
};

}  // namespace heddle::runtime
