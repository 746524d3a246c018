// SPDX-License-Identifier: Apache-2.0
#include "runtime/schedule/pct_strategy.h"

#include <cstring>

namespace heddle::runtime {
namespace {

/// First priorities are above this, lowered ones below.
constexpr std::uint64_t kMiddle = std::uint64_t{1} << 63;
constexpr std::uint32_t kLongestGuess = 14;  // as a power of two

}  // namespace

void PctStrategy::begin_run(const abi::Options& options, Plan, ThreadFinder) {
  random_.seed(options.seed);
  spin_.begin_run();
  std::memset(priority_, 0, sizeof priority_);
  step_ = 0;
  lowest_ = kMiddle;
  const std::uint64_t length =
      options.length != 0 ? options.length : std::uint64_t{4} << random_.below(kLongestGuess - 1);
  const std::uint64_t wanted = options.depth > 0 ? options.depth - 1 : 0;
  change_count_ = static_cast<std::uint32_t>(wanted < kMaxChanges ? wanted : kMaxChanges);
  for (std::uint32_t i = 0; i < change_count_; ++i) changes_[i] = 1 + random_.below_large(length);
}

abi::ThreadIndex PctStrategy::most_important(const ThreadSet& enabled) {
  abi::ThreadIndex best = enabled.nth(0);
  enabled.for_each([&](abi::ThreadIndex thread) {
    if (priority_[thread] == 0) priority_[thread] = kMiddle | random_.next();
    if (priority_[thread] > priority_[best]) best = thread;
  });
  return best;
}

abi::ThreadIndex PctStrategy::choose(const SchedulingPoint& point) {
  if (spin_.gives_way(point)) lower(point.current);
  if (point.enabled.count() == 1) return point.enabled.nth(0);
  ++step_;
  for (std::uint32_t i = 0; i < change_count_; ++i) {
    if (changes_[i] == step_) lower(most_important(point.enabled));
  }
  return most_important(point.enabled);
}

std::uint32_t PctStrategy::choose_value(const SchedulingPoint&, std::uint32_t bound) {
  return random_.below(bound);
}

}  // namespace heddle::runtime
