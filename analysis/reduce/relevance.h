// SPDX-License-Identifier: Apache-2.0
//
// A guess which threads a failure needs. Delta debugging checks it; a bad guess costs trials only.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"

namespace heddle::analysis {

/// The program's threads without t0, most likely needed first: those that wait or hold when nobody
/// can go on, the one that fails, then those whose writes it read, the last read first, and so on
/// from there; after them the others, the last to have run first.
std::vector<std::string> threads_by_relevance(const trace::Trace& trace);

}  // namespace heddle::analysis
