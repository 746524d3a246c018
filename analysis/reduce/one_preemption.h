// SPDX-License-Identifier: Apache-2.0
//
// A guess at a schedule with a single preemption. Most failures need one thread to be interrupted
// once, right after it touched what another then touches: so few places come into question that
// trying them costs less than removing what is superfluous from a schedule full of switches.
#pragma once

#include <cstddef>
#include <vector>

#include "analysis/oracle.h"

namespace heddle::analysis {

/// At most `most` schedules, the likeliest first: those that interrupt a thread between the last
/// accesses by which the run's threads got in each other's way.
std::vector<trace::Schedule> with_one_preemption(const Attempt& run, std::size_t most);

}  // namespace heddle::analysis
