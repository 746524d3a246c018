// SPDX-License-Identifier: Apache-2.0
//
// What an execution that has not happened yet will have in common with one that has: where the
// first question is that the two answer differently. The oracle need not execute the rest again.
#pragma once

#include "analysis/oracle.h"
#include "analysis/reduce/projection.h"

namespace heddle::analysis {

/// `other` leaves out the same, but decides otherwise.
Common in_common(const Attempt& run, const std::vector<trace::Decision>& other);

/// Two projections of the run: what both have of it before they part. `missing` as of
/// missing_events(); nothing is missing of the run itself. The number is that of the other.
Common in_common(const Attempt& run, const std::vector<bool>& missing,
                 const std::vector<bool>& missing_of_other, std::uint64_t other);

/// How many events of the run there are when threads come to be of which some are left out: behind
/// the longest stretch in which none of them does. 0: not known.
std::uint64_t behind_longest_in_common(const Attempt& run, const LeftOut& already,
                                       const std::vector<std::string>& threads);

/// How many events there are before anybody but the first thread exists.
std::uint64_t events_alone(const trace::Trace& trace);

}  // namespace heddle::analysis
