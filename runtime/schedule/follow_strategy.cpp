// SPDX-License-Identifier: Apache-2.0
#include "runtime/schedule/follow_strategy.h"

namespace heddle::runtime {

namespace {

std::uint64_t key_of(std::uint64_t thread, abi::SiteId site, std::uint32_t occurrence) {
  return abi::path_hash(abi::path_hash(thread, site), occurrence);
}

}  // namespace

void FollowStrategy::begin_run(const abi::Options& options, Plan plan, ThreadFinder find) {
  find_ = find;
  visits_.clear();
  go_on_by(options, plan);
}

void FollowStrategy::go_on_by(const abi::Options& options, Plan plan) {
  plan_ = plan;
  order_ = options.seed;
  holds_.begin_run(plan);
  std::size_t size = 64;
  while (size < plan.count * 2) size *= 2;
  table_.clear();
  table_.resize(size);
  for (std::size_t i = 0; i < plan.count; ++i) {
    const abi::PlanRecord& record = plan.records[i];
    std::size_t slot = key_of(record.thread, record.site, record.occurrence) & (size - 1);
    while (table_[slot] != 0) slot = (slot + 1) & (size - 1);
    table_[slot] = static_cast<std::uint32_t>(i + 1);
  }
}

const abi::PlanRecord* FollowStrategy::decision(abi::DecisionKind kind,
                                                const SchedulingPoint& point) const {
  const std::uint32_t visit = visits_.count(point.current_hash, point.pending.site);
  const std::size_t mask = table_.size() - 1;
  std::size_t slot = key_of(point.current_hash, point.pending.site, visit) & mask;
  for (; table_[slot] != 0; slot = (slot + 1) & mask) {
    const abi::PlanRecord& record = plan_.records[table_[slot] - 1];
    if (record.thread == point.current_hash && record.site == point.pending.site &&
        record.occurrence == visit && record.kind == kind) {
      return &record;
    }
  }
  return nullptr;
}

/// Who goes on when the running thread cannot, or should not. The same threads come in the same
/// order whichever others there are.
abi::ThreadIndex FollowStrategy::first_in_order(const SchedulingPoint& point) const {
  if (order_ == kEldestFirst) {
    const abi::ThreadIndex eldest = point.enabled.nth(0);
    return eldest == point.current && point.enabled.count() > 1 ? point.enabled.nth(1) : eldest;
  }
  if (order_ == kYoungestFirst) return point.enabled.nth(point.enabled.count() - 1);
  abi::ThreadIndex first = point.enabled.nth(0);
  std::uint64_t lowest = ~std::uint64_t{0};
  point.enabled.for_each([&](abi::ThreadIndex thread) {
    const std::uint64_t rank = abi::path_hash(point.threads.hash_of(thread), order_);
    if (rank < lowest) {
      lowest = rank;
      first = thread;
    }
  });
  return first;
}

/// Whom the plan names here, or kNoThread.
abi::ThreadIndex FollowStrategy::planned(const SchedulingPoint& point) const {
  const abi::PlanRecord* const record = decision(abi::DecisionKind::Thread, point);
  if (record == nullptr) return abi::kNoThread;
  const abi::ThreadIndex target = find_(record->target);
  // Whoever creates it has not come that far: that the running thread gives way here matters more
  // than to whom.
  if (target == abi::kNoThread) return first_in_order(point);
  return point.enabled.contains(target) ? target : abi::kNoThread;
}

abi::ThreadIndex FollowStrategy::choose(const SchedulingPoint& point) {
  visits_.add(point.current_hash, point.pending.site);
  abi::ThreadIndex chosen = planned(point);
  if (chosen == abi::kNoThread) {
    chosen = point.enabled.contains(point.current) ? point.current : first_in_order(point);
  }
  if (holds_.empty()) return chosen;
  if (holds_.holds(point, chosen) != Holds::kFree) {
    const bool stays =
        point.enabled.contains(point.current) && holds_.holds(point, point.current) == Holds::kFree;
    chosen = stays ? point.current : holds_.weakest(point);
  }
  holds_.passes(point, chosen);
  return chosen;
}

std::uint32_t FollowStrategy::choose_value(const SchedulingPoint& point, std::uint32_t bound) {
  const abi::PlanRecord* const record = decision(abi::DecisionKind::Value, point);
  const std::uint32_t planned =
      record != nullptr && record->target < bound ? static_cast<std::uint32_t>(record->target) : 0;
  if (holds_.empty() || point.pending.kind != abi::EventKind::Flush) return planned;
  return holds_.flush_choice_of(point, point.current, planned);
}

}  // namespace heddle::runtime
