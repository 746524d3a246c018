// SPDX-License-Identifier: Apache-2.0
#include "runtime/schedule/thread_weights.h"

#include <cstring>

namespace heddle::runtime {

void ThreadWeights::begin_run(Plan plan) {
  std::memset(left_, 0, sizeof left_);
  std::memset(known_, 0, sizeof known_);
  met_ = 0;
  rows_.clear();
  for (std::size_t i = 0; i < plan.count; ++i) {
    const abi::PlanRecord& record = plan.records[i];
    if (record.kind != abi::DecisionKind::Weight) continue;
    rows_.push_back({record.thread, record.target, record.occurrence, 0});
  }
  // A parent's record comes before its children's: from the back, totals are complete when added.
  for (std::size_t i = rows_.size(); i-- > 0;) {
    if (Row* const parent = find(rows_[i].parent)) parent->total += rows_[i].total;
  }
}

ThreadWeights::Row* ThreadWeights::find(std::uint64_t hash) {
  for (Row& row : rows_) {
    if (row.thread == hash) return &row;
  }
  return nullptr;
}

ThreadWeights::Share ThreadWeights::meet(abi::ThreadIndex thread, std::uint64_t hash) {
  known_[thread] = true;
  if (thread >= met_) met_ = thread + 1u;
  Row* const row = find(hash);
  if (row == nullptr) return {};
  row->index = thread + 1u;
  left_[thread] = row->total;
  // It was counted with its nearest ancestor that is there.
  for (Row* above = find(row->parent); above != nullptr; above = find(above->parent)) {
    if (above->index == 0) continue;
    std::uint64_t& left = left_[above->index - 1];
    const Share share{static_cast<abi::ThreadIndex>(above->index - 1), row->total, left};
    left = left > row->total ? left - row->total : 0;
    return share;
  }
  return {};
}

void ThreadWeights::spend(abi::ThreadIndex thread) {
  if (left_[thread] > 0) --left_[thread];
}

}  // namespace heddle::runtime
