// SPDX-License-Identifier: Apache-2.0
#include "analysis/localise/serial_orders.h"

#include <algorithm>

namespace heddle::analysis {
namespace {

/// Whether the thread has been at the point's place, in whatever iteration, before `end`.
bool been_there(const Observed& run, const Point& point, std::size_t end) {
  for (std::size_t i = 0; i < end; ++i) {
    const Point at = run.accesses.point(i);
    if (at.thread == point.thread && at.site == point.site) return true;
  }
  return false;
}

bool has_before(const Observed& run, const Point& first, const Point& last, const Point& other) {
  const auto begins = run.accesses.find(first);
  if (!begins) return false;
  // A step may be shorter in another order.
  const std::size_t ends = run.accesses.find(last).value_or(*begins);
  if (ends < *begins) return false;
  const auto comes = run.accesses.find(other);
  return comes ? *comes > ends : !been_there(run, other, ends);
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
