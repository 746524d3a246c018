// SPDX-License-Identifier: Apache-2.0
//
// Where a reduction is stuck. Delta debugging asks whether a smaller program fails under what is
// left of the run's schedule, which is one schedule of it; the failure may need another one. These
// are the programs that are worth a few schedules of their own.
#pragma once

#include <vector>

#include "analysis/reduce/projection.h"

namespace heddle::analysis {

/// What to leave out of the program, beyond what `run` does already, the smallest program first:
/// all threads but the one that fails (or those that wait at the end) and one or two others, with
/// one iteration of each block; then all threads, with one iteration; then all but one thread.
std::vector<LeftOut> smaller_programs(const Attempt& run, const LeftOut& already);

}  // namespace heddle::analysis
