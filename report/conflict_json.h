// SPDX-License-Identifier: Apache-2.0
//
// What `heddle conflicts` found, as JSON with fixed field names, and as SARIF 2.1.0.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "analysis/conflicts/conflict.h"

namespace heddle::report {

/// {conflict, kind, variable, observed, first, second, order, failure_percent, hit_percent, effect,
/// native, controlled, about, breakpoints} for each order that was tried, the most telling conflict
/// first; `order` is "file:line -> file:line", `first` the one that goes first.
nlohmann::json rows_json(const analysis::Conflicts& conflicts);

/// Each conflict a result: an error if one of its orders makes the program fail, else a note; each
/// order that fails a code flow.
nlohmann::json to_sarif(const analysis::Conflicts& conflicts, const std::string& version);

}  // namespace heddle::report
