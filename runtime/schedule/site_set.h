// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/base/vector.h"
#include "runtime/schedule/strategy.h"

namespace heddle::runtime {

/// The sites that a plan's records of one kind name.
class SiteSet {
 public:
  void begin_run(Plan plan, abi::DecisionKind kind, std::uint32_t least_occurrence = 0) {
    for (Bits& bits : bits_) bits.clear();
    for (std::size_t i = 0; i < plan.count; ++i) {
      const abi::PlanRecord& record = plan.records[i];
      if (record.kind == kind && record.occurrence >= least_occurrence) insert(record.site);
    }
  }
  bool empty() const { return bits_[0].empty() && bits_[1].empty(); }
  bool contains(abi::SiteId site) const {
    const Bits& bits = bits_[is_code(site)];
    const abi::SiteId at = site % abi::kCodeSites;
    return at / 64 < bits.size() && ((bits[at / 64] >> (at % 64)) & 1) != 0;
  }

 private:
  using Bits = Vector<std::uint64_t>;

  static bool is_code(abi::SiteId site) { return site >= abi::kCodeSites; }
  void insert(abi::SiteId site) {
    Bits& bits = bits_[is_code(site)];
    const abi::SiteId at = site % abi::kCodeSites;
    if (at / 64 >= bits.size()) bits.resize(at / 64 + 1);
    bits[at / 64] |= std::uint64_t{1} << (at % 64);
  }

  Bits bits_[2];  // of numbered sites, of places in code: both begin near 0
};

}  // namespace heddle::runtime
