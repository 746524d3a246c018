// SPDX-License-Identifier: Apache-2.0
#include "runtime/schedule/urw_strategy.h"

namespace heddle::runtime {

void UrwStrategy::begin_run(const abi::Options& options, Plan plan, ThreadFinder) {
  random_.seed(options.seed);
  weights_.begin_run(plan);
}

abi::ThreadIndex UrwStrategy::choose(const SchedulingPoint& point) {
  std::uint64_t total = 0;
  point.enabled.for_each([&](abi::ThreadIndex thread) {
    if (!weights_.knows(thread)) weights_.meet(thread, point.threads.hash_of(thread));
  });
  const auto weight_of = [&](abi::ThreadIndex thread) {
    return weights_.left(thread) == 0 ? 1 : weights_.left(thread);
  };
  point.enabled.for_each([&](abi::ThreadIndex thread) { total += weight_of(thread); });
  std::uint64_t ticket = random_.below_large(total);
  abi::ThreadIndex chosen = abi::kNoThread;
  point.enabled.for_each([&](abi::ThreadIndex thread) {
    if (chosen != abi::kNoThread) return;
    const std::uint64_t weight = weight_of(thread);
    if (ticket < weight) chosen = thread;
    ticket -= weight;
  });
  weights_.spend(chosen);
  return chosen;
}

std::uint32_t UrwStrategy::choose_value(const SchedulingPoint&, std::uint32_t bound) {
  return random_.below(bound);
}

}  // namespace heddle::runtime
