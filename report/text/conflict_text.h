// SPDX-License-Identifier: Apache-2.0
//
// What `heddle conflicts` found, told on a terminal. Renders only.
#pragma once

#include <string>

#include "analysis/conflicts/conflict.h"
#include "report/text/style.h"

namespace heddle::report {

/// "data race", "contention for a lock" ...
std::string headline_of(analysis::ConflictKind kind);
/// "data race on hits", "contention for the lock queue.mutex".
std::string headline_of(const analysis::Conflict& conflict);
/// "queue.c:36 -> queue.c:59".
std::string order_text(const analysis::Conflict& conflict, const analysis::OrderTrial& order);
/// "fails in 20 of 20 runs, hit in 20".
std::string effect_text(const analysis::OrderTrial& order);

/// One conflict with both of its orders. `rank` counts from 1.
std::string conflict_text(const analysis::Conflict& conflict, std::size_t rank, const Style& style);

}  // namespace heddle::report
