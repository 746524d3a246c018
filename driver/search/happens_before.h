// SPDX-License-Identifier: Apache-2.0
//
// Names the state an execution is in by the partial order of the events that led there: two
// prefixes of executions that differ only in the order of independent events have the same name.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/search/footprint.h"

namespace heddle::driver {

/// One entry for each decision of the execution, and one for its end.
std::vector<std::uint64_t> states_before_decisions(const Channel& channel,
                                                   const std::vector<Footprint>& footprints);

}  // namespace heddle::driver
