// SPDX-License-Identifier: Apache-2.0
//
// What each thread was doing when the run failed, a line a thread.
#pragma once

#include <string>
#include <vector>

#include "report/text/style.h"
#include "trace/trace.h"

namespace heddle::report {

/// "t0.1  push queue.c:31 < producer queue.c:52": innermost first, only what has a line in the
/// source. Empty if no stack is known.
std::vector<std::string> stack_lines(const trace::Trace& trace, const Style& style);

}  // namespace heddle::report
