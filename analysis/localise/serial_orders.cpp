// SPDX-License-Identifier: Apache-2.0
#include "analysis/localise/serial_orders.h"

#include <algorithm>

namespace heddle::analysis {
namespace {

bool has_before(const Observed& run, const Point& first, const Point& last, const Point& other) {
  const auto begins = run.accesses.find(first);
  const auto ends = run.accesses.find(last);
  const auto comes = run.accesses.find(other);
  return begins && ends && *begins <= *ends && (!comes || *comes > *ends);
}

}  // namespace

bool SerialOrders::passes_before(const Point& first, const Point& last, const Point& other) {
  const bool seen = std::any_of(passing_.begin(), passing_.end(), [&](const auto& run) {
    return has_before(*run, first, last, other);
  });
  if (seen || experiments_ == nullptr) return seen;
  const auto [entry, is_new] = known_.try_emplace({first, last, other}, false);
  if (is_new) {
    entry->second = experiments_->passes_with(
        {last, other}, [&](const Observed& run) { return has_before(run, first, last, other); });
  }
  return entry->second;
}

}  // namespace heddle::analysis
