// SPDX-License-Identifier: Apache-2.0
//
// The parts of SARIF 2.1.0 that all of Heddle's logs share.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "analysis/finding.h"

namespace heddle::report {

/// An access on its source line, with what is to be said of it.
nlohmann::json sarif_location(const analysis::FoundAccess& access, const std::string& message);

/// A whole log. `rules` and `results` as SARIF has them.
nlohmann::json sarif_log(const nlohmann::json& rules, const nlohmann::json& results,
                         const std::string& version);

}  // namespace heddle::report
