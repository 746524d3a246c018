// SPDX-License-Identifier: Apache-2.0
//
// A deadlock needs no comparison: the waits say it all. Each thread of the cycle has what another
// waits for.
#pragma once

#include <optional>

#include "analysis/localise/proof.h"

namespace heddle::analysis {

/// The cycle in which the failed run ended, put to the proof; nothing if no acquisition of it can
/// be named.
std::optional<Finding> locate_deadlock(const Observed& failed, Experiments& experiments,
                                       Proof& proof);

}  // namespace heddle::analysis
