// SPDX-License-Identifier: Apache-2.0
//
// From what is known of a failure to concurrent breakpoints that bring it about: the first half of
// BTRIGGER's methodology I (Park and Sen, "Concurrent Breakpoints", 2011, section 5).
#pragma once

#include <string>
#include <vector>

#include "analysis/finding.h"
#include "trace/pins.h"

namespace heddle::analysis {

/// The same breakpoints, counting only arrivals in a calling context or with a lock.
struct RefinedPins {
  std::string how;  // ", in context", ", lock held"
  trace::Pins pins;
};

struct PinProposal {
  std::string origin;  // "finding 1", "schedule"
  trace::Pins pins;
  std::vector<RefinedPins> refined{};
};

/// The most promising first, few breakpoints before many. From the pairs of each finding, then from
/// the order in which the failed run's threads took turns. Empty if no place of them is in code
/// that breakpoints can be put into.
std::vector<PinProposal> propose_pins(const Localisation& localisation);

/// One access before another: a report of a race detector says no more. Both orders.
std::vector<PinProposal> propose_pins(const trace::PinPlace& one, const trace::PinPlace& other,
                                      const std::string& origin);

}  // namespace heddle::analysis
