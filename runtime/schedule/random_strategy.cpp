// SPDX-License-Identifier: Apache-2.0
#include "runtime/schedule/random_strategy.h"

namespace heddle::runtime {

void RandomStrategy::begin_run(const abi::Options& options, Plan, ThreadFinder) {
  state_ = options.seed;
}

// SplitMix64 (Steele, Lea, Flood 2014): one word of state, and neighbouring seeds are unrelated.
std::uint64_t RandomStrategy::next() {
  state_ += 0x9E3779B97F4A7C15ull;
  std::uint64_t x = state_;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

std::uint32_t RandomStrategy::below(std::uint32_t bound) {
  return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
}

abi::ThreadIndex RandomStrategy::choose(const SchedulingPoint& point) {
  const std::uint32_t count = point.enabled.count();
  return point.enabled.nth(count == 1 ? 0 : below(count));
}

std::uint32_t RandomStrategy::choose_value(const SchedulingPoint&, std::uint32_t bound) {
  return below(bound);
}

}  // namespace heddle::runtime
