// SPDX-License-Identifier: Apache-2.0
//
// The beginning and the end of a story: what went wrong, and in sentences why nothing could go on.
#pragma once

#include <string>
#include <vector>

#include "report/text/style.h"
#include "trace/trace.h"

namespace heddle::report {

/// "assertion failed: counter == 2" and where; one or two lines.
std::vector<std::string> headline(const trace::Trace& trace, const Style& style);

/// Sentences that explain waits and freed memory; empty for failures that explain themselves.
std::vector<std::string> explanation(const trace::Trace& trace, const Style& style);

}  // namespace heddle::report
