// SPDX-License-Identifier: Apache-2.0
#include "runtime/schedule/replay_strategy.h"

namespace heddle::runtime {

void ReplayStrategy::begin_run(const abi::Options&, Plan plan, ThreadFinder find) {
  plan_ = plan;
  find_ = find;
  position_ = 0;
  table_.clear();
  table_.resize(1024);
  used_ = 0;
}

ReplayStrategy::Visits& ReplayStrategy::visits(std::uint64_t thread, abi::SiteId site) {
  if (used_ * 2 >= table_.size()) grow_table();
  const std::size_t mask = table_.size() - 1;
  std::size_t i = static_cast<std::size_t>(abi::path_hash(thread, site)) & mask;
  while (table_[i].thread != 0 && (table_[i].thread != thread || table_[i].site != site)) {
    i = (i + 1) & mask;
  }
  if (table_[i].thread == 0) {
    table_[i] = {thread, site, 0};
    ++used_;
  }
  return table_[i];
}

void ReplayStrategy::grow_table() {
  Vector<Visits> old = table_;
  table_ = Vector<Visits>{};
  table_.resize(old.size() * 2);
  used_ = 0;
  for (const Visits& entry : old) {
    if (entry.thread != 0) visits(entry.thread, entry.site).count = entry.count;
  }
}

bool ReplayStrategy::next_is(abi::DecisionKind kind, const SchedulingPoint& point) {
  if (position_ == plan_.count) return false;
  const abi::PlanRecord& record = plan_.records[position_];
  return record.kind == kind && record.thread == point.current_hash &&
         record.site == point.pending.site &&
         record.occurrence == visits(point.current_hash, point.pending.site).count;
}

abi::ThreadIndex ReplayStrategy::choose(const SchedulingPoint& point) {
  ++visits(point.current_hash, point.pending.site).count;
  if (next_is(abi::DecisionKind::Thread, point)) {
    const abi::ThreadIndex target = find_(plan_.records[position_].target);
    if (target == abi::kNoThread || !point.enabled.contains(target)) return abi::kNoThread;
    ++position_;
    return target;
  }
  if (point.enabled.contains(point.current)) return point.current;
  return point.enabled.count() == 1 ? point.enabled.nth(0) : abi::kNoThread;
}

std::uint32_t ReplayStrategy::choose_value(const SchedulingPoint& point, std::uint32_t bound) {
  if (!next_is(abi::DecisionKind::Value, point)) return kCannotFollow;
  const std::uint64_t value = plan_.records[position_].target;
  if (value >= bound) return kCannotFollow;
  ++position_;
  return static_cast<std::uint32_t>(value);
}

}  // namespace heddle::runtime
