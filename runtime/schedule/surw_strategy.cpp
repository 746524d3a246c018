// SPDX-License-Identifier: Apache-2.0
#include "runtime/schedule/surw_strategy.h"

namespace heddle::runtime {

void SurwStrategy::begin_run(const abi::Options& options, Plan plan, ThreadFinder) {
  random_.seed(options.seed);
  weights_.begin_run(plan);
  selected_.begin_run(plan, abi::DecisionKind::Select);
  meant_ = abi::kNoThread;
  waited_ = 0;
}

/// By what each still has before it; among all threads, also those that cannot go on at present, or
/// among the given ones, each of which then has at least one chance.
void SurwStrategy::draw_meant(const ThreadSet* among) {
  const auto weight_of = [&](std::uint32_t i) -> std::uint64_t {
    const auto thread = static_cast<abi::ThreadIndex>(i);
    if (among == nullptr) return weights_.left(thread);
    if (!among->contains(thread)) return 0;
    return weights_.left(thread) == 0 ? 1 : weights_.left(thread);
  };
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < weights_.met(); ++i) total += weight_of(i);
  meant_ = abi::kNoThread;
  waited_ = 0;
  if (total == 0) return;
  std::uint64_t ticket = random_.below_large(total);
  for (std::uint32_t i = 0; i < weights_.met(); ++i) {
    if (ticket < weight_of(i)) {
      meant_ = static_cast<abi::ThreadIndex>(i);
      return;
    }
    ticket -= weight_of(i);
  }
}

abi::ThreadIndex SurwStrategy::choose(const SchedulingPoint& point) {
  point.enabled.for_each([&](abi::ThreadIndex thread) {
    if (weights_.knows(thread)) return;
    const ThreadWeights::Share share = weights_.meet(thread, point.threads.hash_of(thread));
    // Whoever was meant stood also for the threads it had yet to create.
    if (share.taken > 0 && share.from == meant_ && random_.below_large(share.of) < share.taken) {
      meant_ = thread;
    }
  });
  if (meant_ == abi::kNoThread) draw_meant(nullptr);
  if (++waited_ > kPatience) {
    ThreadSet halted;
    point.enabled.for_each([&](abi::ThreadIndex thread) {
      if (at_selected(point, thread)) halted.insert(thread);
    });
    if (halted.count() > 0) draw_meant(&halted);
  }
  ThreadSet candidates;
  const auto collect = [&] {
    point.enabled.for_each([&](abi::ThreadIndex thread) {
      if (thread == meant_ || !at_selected(point, thread)) candidates.insert(thread);
    });
  };
  collect();
  if (candidates.count() == 0) {
    draw_meant(&point.enabled);
    collect();
  }
  const std::uint32_t count = candidates.count();
  const abi::ThreadIndex chosen = candidates.nth(count == 1 ? 0 : random_.below(count));
  if (at_selected(point, chosen)) {
    weights_.spend(chosen);
    meant_ = abi::kNoThread;
  }
  return chosen;
}

std::uint32_t SurwStrategy::choose_value(const SchedulingPoint&, std::uint32_t bound) {
  return random_.below(bound);
}

}  // namespace heddle::runtime
