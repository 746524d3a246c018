// SPDX-License-Identifier: Apache-2.0
#include "runtime/schedule/delays_strategy.h"

namespace heddle::runtime {
namespace {

constexpr std::uint32_t kOneIn = 8;      // operations that are delayed
constexpr std::uint32_t kLongest = 256;  // times what an operation takes
constexpr std::uint32_t kSleep = 4096;   // the same: a short sleep is as long as thousands of them

}  // namespace

void DelaysStrategy::begin_run(const abi::Options& options, Plan, ThreadFinder) {
  random_.seed(options.seed);
  processors_.clear();
  choices_ = 0;
  now_ = 0;
}

DelaysStrategy::Processor& DelaysStrategy::processor(abi::ThreadIndex thread) {
  while (processors_.size() <= thread) processors_.push_back({});
  return processors_[thread];
}

/// Short ones are as likely as long ones: each doubling has the same share.
std::uint64_t DelaysStrategy::delay() {
  if (random_.below(kOneIn) != 0) return 0;
  std::uint32_t longest = 2;
  while (longest < kLongest && random_.below(4) != 0) longest *= 2;
  return random_.below(longest);
}

abi::ThreadIndex DelaysStrategy::choose(const SchedulingPoint& point) {
  ++choices_;
  // Who waits until a time limit, or sleeps, is not back before the others have done something: or
  // loops round sleeps would be most of the run.
  const bool sleeps = point.threads.lets_time_pass(point.current);
  processor(point.current).clock += (sleeps ? kSleep : 1) + delay();
  abi::ThreadIndex first = abi::kNoThread;
  point.enabled.for_each([&](abi::ThreadIndex thread) {
    Processor& its = processor(thread);
    // Whoever had to wait, or was just created, has not slept for free.
    if (its.seen + 1 != choices_ && its.clock < now_) its.clock = now_ + delay();
    its.seen = choices_;
    if (first == abi::kNoThread || its.clock < processors_[first].clock) first = thread;
  });
  if (processors_[first].clock > now_) now_ = processors_[first].clock;
  return first;
}

std::uint32_t DelaysStrategy::choose_value(const SchedulingPoint&, std::uint32_t bound) {
  return random_.below(bound);
}

}  // namespace heddle::runtime
