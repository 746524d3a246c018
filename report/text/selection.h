// SPDX-License-Identifier: Apache-2.0
//
// Which events of a trace a story tells: the neighbourhood of context switches and of the end; what
// lies between is counted.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "trace/trace.h"

namespace heddle::report {

struct Row {
  std::size_t first = 0;  // index of the event, or of the first of those left out
  std::size_t count = 1;  // more than 1, or `left_out`: these are only counted
  bool left_out = false;
  bool operator==(const Row&) const = default;
};

/// At most about `limit` events are told, all of them `shown` (by event; empty: all are). Others
/// are not counted either: neighbours are the next ones that are shown.
std::vector<Row> select_rows(const trace::Trace& trace, std::size_t limit,
                             const std::vector<bool>& shown = {});

/// The event at which the run failed: the last one of the failing thread.
std::optional<std::size_t> failing_event(const trace::Trace& trace);

}  // namespace heddle::report
