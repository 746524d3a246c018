// SPDX-License-Identifier: Apache-2.0
#include "runtime/schedule/pos_strategy.h"

#include <cstring>

namespace heddle::runtime {

void PosStrategy::begin_run(const abi::Options& options, Plan, ThreadFinder) {
  random_.seed(options.seed);
  choices_ = 0;
  std::memset(priority_, 0, sizeof priority_);
}

abi::ThreadIndex PosStrategy::choose(const SchedulingPoint& point) {
  return choose_among(point, point.enabled);
}

abi::ThreadIndex PosStrategy::choose_among(const SchedulingPoint& point,
                                           const ThreadSet& candidates) {
  priority_[point.current] = 0;  // it has come to a new operation
  if (point.enabled.count() == 1) return point.enabled.nth(0);
  if (++choices_ % kRedrawEvery == 0) std::memset(priority_, 0, sizeof priority_);
  abi::ThreadIndex best = candidates.nth(0);
  point.enabled.for_each([&](abi::ThreadIndex thread) {
    if (priority_[thread] == 0) priority_[thread] = random_.next() | 1;
    if (candidates.contains(thread) && priority_[thread] > priority_[best]) best = thread;
  });
  const Pending& chosen = point.threads.pending_of(best);
  point.enabled.for_each([&](abi::ThreadIndex thread) {
    if (chosen.conflicts_with(point.threads.pending_of(thread))) priority_[thread] = 0;
  });
  return best;
}

std::uint32_t PosStrategy::choose_value(const SchedulingPoint&, std::uint32_t bound) {
  return random_.below(bound);
}

}  // namespace heddle::runtime
