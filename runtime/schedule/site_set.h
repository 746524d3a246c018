// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/base/vector.h"
#include "runtime/schedule/strategy.h"

namespace heddle::runtime {

/// The sites that a plan's records of one kind name.
class SiteSet {
 public:
  void begin_run(Plan plan, abi::DecisionKind kind) {
    bits_.clear();
    for (std::size_t i = 0; i < plan.count; ++i) {
      if (plan.records[i].kind == kind) insert(plan.records[i].site);
    }
  }
  bool contains(abi::SiteId site) const {
    return site / 64 < bits_.size() && ((bits_[site / 64] >> (site % 64)) & 1) != 0;
  }

 private:
  void insert(abi::SiteId site) {
    if (site / 64 >= bits_.size()) bits_.resize(site / 64 + 1);
    bits_[site / 64] |= std::uint64_t{1} << (site % 64);
  }

  Vector<std::uint64_t> bits_;
};

}  // namespace heddle::runtime
