// SPDX-License-Identifier: Apache-2.0
//
// What localisation found, told on a terminal. Renders only.
#pragma once

#include <string>

#include "analysis/finding.h"
#include "report/text/style.h"

namespace heddle::report {

/// "reads", "writes", "updates", "locks", "waits for", "signals", "is woken", "frees",
/// "destroys".
std::string deed(const std::string& role);
/// "atomicity violation, R-W-W (5)".
std::string headline_of(const analysis::Finding& finding);
/// The finding in one or two sentences: what was probably meant.
std::string sentence_of(const analysis::Finding& finding);

std::string finding_text(const analysis::Finding& finding, const Style& style);
/// How it was found: runs, experiments, and what else was seen.
std::string account_text(const analysis::Localisation& localisation, const Style& style);
/// The nearest passing run beside the failing one, about where they part.
std::string comparison_text(const analysis::Localisation& localisation, const Style& style);

}  // namespace heddle::report
