// SPDX-License-Identifier: Apache-2.0
//
// How large an execution is, in what a reduction takes off.
#pragma once

#include <cstdint>
#include <tuple>

#include "analysis/reduce/projection.h"
#include "analysis/reduce/reduce.h"

namespace heddle::analysis {

/// What the program did from that event on.
std::uint64_t events_of(const trace::Trace& trace, std::uint64_t from = 0);

/// Of it, what belongs to these iterations.
std::int64_t events_in(const trace::Trace& trace, const LeftOut& iterations);

/// Threads, preemptions, context switches, events: the first that differs says which is smaller.
using Weight = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;
Weight weight(const Attempt& attempt);

}  // namespace heddle::analysis
