// SPDX-License-Identifier: Apache-2.0
//
// What localisation found, as JSON with fixed field names, and as SARIF 2.1.0.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "analysis/finding.h"

namespace heddle::report {

/// {thread, role, site, occurrence, file, line, function, event, loops: [{site, file, line, entry,
/// iteration}], context: [{function, file, line}]}, loops and context outermost first.
nlohmann::json to_json(const analysis::FoundAccess& access);

/// {rank, procedure, level, class, shape, confirmed, pairs: [{variable, first, second,
/// in_failed_run, suspicious}], regions, forbidden, enforced}.
nlohmann::json to_json(const analysis::Finding& finding);

/// A whole SARIF log: each finding a result whose thread flows tell, per thread, the accesses of
/// its pairs with the order in which the failing run had them.
nlohmann::json to_sarif(const analysis::Localisation& localisation, const std::string& version);

}  // namespace heddle::report
