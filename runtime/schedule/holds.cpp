// SPDX-License-Identifier: Apache-2.0
#include "runtime/schedule/holds.h"

namespace heddle::runtime {

void Holds::begin_run(Plan plan) {
  orders_.clear();
  for (std::size_t i = 0; i + 1 < plan.count; ++i) {
    if (plan.records[i].kind != abi::DecisionKind::Hold) continue;
    orders_.push_back({plan.records[i], plan.records[i + 1], 0});
  }
  if (orders_.empty()) return;
  done_.clear();
  std::size_t slots = 64;
  while (slots < 2 * orders_.size()) slots *= 2;
  table_.clear();
  table_.resize(slots);
  // From the weakest, so that the strongest comes to be the first of its operation.
  for (std::size_t i = orders_.size(); i-- > 0;) {
    const abi::PlanRecord& hold = orders_[i].hold;
    std::size_t& first = table_[slot(hold.thread, hold.site, hold.occurrence)];
    orders_[i].next = first;
    first = i + 1;
  }
}

std::size_t Holds::slot(std::uint64_t thread, abi::SiteId site, std::uint32_t occurrence) const {
  const std::size_t mask = table_.size() - 1;
  std::size_t i =
      static_cast<std::size_t>(abi::path_hash(abi::path_hash(thread, site), occurrence)) & mask;
  for (; table_[i] != 0; i = (i + 1) & mask) {
    const abi::PlanRecord& hold = orders_[table_[i] - 1].hold;
    if (hold.thread == thread && hold.site == site && hold.occurrence == occurrence) break;
  }
  return i;
}

std::size_t Holds::holds(const SchedulingPoint& point, abi::ThreadIndex thread) const {
  const std::uint64_t hash = point.threads.hash_of(thread);
  const abi::SiteId site = point.threads.pending_of(thread).site;
  std::size_t at = table_[slot(hash, site, done_.count(hash, site) + 1)];
  for (; at != 0; at = orders_[at - 1].next) {
    const abi::PlanRecord& until = orders_[at - 1].until;
    if (done_.count(until.thread, until.site) < until.occurrence) return at - 1;
  }
  return kFree;
}

abi::ThreadIndex Holds::weakest(const SchedulingPoint& point) const {
  abi::ThreadIndex weakest = point.enabled.nth(0);
  std::size_t strength = holds(point, weakest);
  point.enabled.for_each([&](abi::ThreadIndex thread) {
    const std::size_t held = holds(point, thread);
    if (held <= strength) return;
    weakest = thread;
    strength = held;
  });
  return weakest;
}

void Holds::passes(const SchedulingPoint& point, abi::ThreadIndex thread) {
  if (empty()) return;
  done_.add(point.threads.hash_of(thread), point.threads.pending_of(thread).site);
}

}  // namespace heddle::runtime
