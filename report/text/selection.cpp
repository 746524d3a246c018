// SPDX-License-Identifier: Apache-2.0
#include "report/text/selection.h"

#include <algorithm>

namespace heddle::report {
namespace {

using trace::Trace;

// Events told on either side of a context switch, and before the failure.
constexpr std::size_t kNearSwitch = 2;
constexpr std::size_t kNearFailure = 6;

void mark(std::vector<bool>& told, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < std::min(to, told.size()); ++i) told[i] = true;
}

std::size_t before(std::size_t index, std::size_t distance) {
  return index > distance ? index - distance : 0;
}

}  // namespace

std::optional<std::size_t> failing_event(const Trace& trace) {
  const trace::Outcome& outcome = trace.outcome;
  // Who waits for ever fails at what it does not do.
  if (outcome.thread == trace::kNone || !outcome.failed() || !outcome.waits.empty())
    return std::nullopt;
  for (std::size_t i = trace.events.size(); i-- > 0;)
    if (trace.events[i].thread == outcome.thread) return i;
  return std::nullopt;
}

std::vector<Row> select_rows(const Trace& trace, std::size_t limit,
                             const std::vector<bool>& shown) {
  std::vector<std::size_t> events;
  for (std::size_t i = 0; i < trace.events.size(); ++i)
    if (shown.empty() || shown[i]) events.push_back(i);
  const auto thread = [&](std::size_t i) { return trace.events[events[i]].thread; };

  std::size_t size = events.size();
  std::vector<bool> told(size, size <= limit);
  if (size > limit) {
    for (std::size_t i = 1; i < size; ++i)
      if (thread(i) != thread(i - 1)) mark(told, before(i, kNearSwitch), i + kNearSwitch);
    if (auto failing = failing_event(trace)) {
      const auto found = std::lower_bound(events.begin(), events.end(), *failing);
      const auto at = static_cast<std::size_t>(found - events.begin());
      mark(told, before(at, kNearFailure), at + 1);
    }
    mark(told, before(size, kNearFailure), size);
    // What led to the failure is near its end: of too many rows the last stay.
    auto count = static_cast<std::size_t>(std::count(told.begin(), told.end(), true));
    for (std::size_t i = 0; i < size && count > limit; ++i) {
      if (!told[i]) continue;
      told[i] = false;
      --count;
    }
  }

  std::vector<Row> rows;
  for (std::size_t i = 0; i < size;) {
    if (told[i]) {
      rows.push_back({events[i++], 1, false});
      continue;
    }
    std::size_t end = i;
    while (end < size && !told[end]) ++end;
    // A single event takes no more room than the remark that it is missing.
    rows.push_back({events[i], end - i, end - i > 1});
    i = end;
  }
  return rows;
}

}  // namespace heddle::report
