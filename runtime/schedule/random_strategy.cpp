// SPDX-License-Identifier: Apache-2.0
#include "runtime/schedule/random_strategy.h"

namespace heddle::runtime {

void RandomStrategy::begin_run(const abi::Options& options, Plan, ThreadFinder) {
  random_.seed(options.seed);
}

abi::ThreadIndex RandomStrategy::choose(const SchedulingPoint& point) {
  const std::uint32_t count = point.enabled.count();
  return point.enabled.nth(count == 1 ? 0 : random_.below(count));
}

std::uint32_t RandomStrategy::choose_value(const SchedulingPoint&, std::uint32_t bound) {
  return random_.below(bound);
}

}  // namespace heddle::runtime
