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

std::size_t Holds::holds_at(const SchedulingPoint& point, std::uint64_t thread, abi::SiteId site,
                            std::uint32_t occurrence) const {
  std::size_t at = table_[slot(thread, site, occurrence)];
  for (; at != 0; at = orders_[at - 1].next) {
    const abi::PlanRecord& until = orders_[at - 1].until;
    const std::uint32_t done =
        done_.count(until.thread, until.site) + point.threads.flushes(until.thread, until.site);
    if (done < until.occurrence) return at - 1;
  }
  return kFree;
}

std::size_t Holds::holds_flush(const SchedulingPoint& point, abi::ThreadIndex flusher,
                               std::uint32_t choice) const {
  const std::uint64_t hash = point.threads.hash_of(flusher);
  const abi::SiteId site = point.threads.flush_choice(flusher, choice);
  return holds_at(point, hash, site, point.threads.flushes(hash, site) + 1);
}

/// The strongest order that holds a store which the thread would flush now.
std::size_t Holds::holds_drain(const SchedulingPoint& point, abi::ThreadIndex thread) const {
  const std::uint64_t hash = point.threads.hash_of(point.threads.flusher_of(thread));
  std::size_t strongest = kFree;
  for (std::uint32_t i = 0; i < point.threads.pending_stores(thread); ++i) {
    const abi::SiteId site = point.threads.pending_store(thread, i);
    std::uint32_t occurrence = point.threads.flushes(hash, site) + 1;
    for (std::uint32_t k = 0; k < i; ++k) {
      if (point.threads.pending_store(thread, k) == site) ++occurrence;
    }
    const std::size_t held = holds_at(point, hash, site, occurrence);
    if (held < strongest) strongest = held;
  }
  return strongest;
}

std::size_t Holds::holds(const SchedulingPoint& point, abi::ThreadIndex thread) const {
  const Pending pending = point.threads.pending_of(thread);
  if (pending.kind == abi::EventKind::Flush) {
    const std::uint32_t choice = flush_choice_of(point, thread, 0);
    return holds_flush(point, thread, choice);
  }
  const std::uint64_t hash = point.threads.hash_of(thread);
  const std::size_t own = holds_at(point, hash, pending.site, done_.count(hash, pending.site) + 1);
  if (!point.threads.drains_first(thread)) return own;
  const std::size_t drain = holds_drain(point, thread);
  return drain < own ? drain : own;
}

std::uint32_t Holds::flush_choice_of(const SchedulingPoint& point, abi::ThreadIndex flusher,
                                     std::uint32_t planned) const {
  std::uint32_t best = planned;
  std::size_t strength = holds_flush(point, flusher, planned);
  for (std::uint32_t i = 0; strength != kFree && i < point.threads.flush_choices(flusher); ++i) {
    const std::size_t held = holds_flush(point, flusher, i);
    if (held <= strength) continue;
    best = i;
    strength = held;
  }
  return best;
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
  if (empty() || point.threads.pending_of(thread).kind == abi::EventKind::Flush) return;
  done_.add(point.threads.hash_of(thread), point.threads.pending_of(thread).site);
}

}  // namespace heddle::runtime
