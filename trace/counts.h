// SPDX-License-Identifier: Apache-2.0
//
// The figures by which runs are compared; one definition for lists, reports and reductions.
#pragma once

#include <cstdint>

#include "trace/schedule.h"
#include "trace/trace.h"

namespace heddle::trace {

/// The program's threads: those of the trace that are no flushers ("t0.1~") and are not left out.
std::uint64_t program_threads(const Trace& trace, const Schedule& schedule);

/// Of these, the ones that came to do something.
std::uint64_t acting_threads(const Trace& trace);

/// How often two neighbouring events are of different threads.
std::uint64_t context_switches(const Trace& trace);

/// Decisions that left a thread which could have gone on.
std::uint64_t preemptions(const Schedule& schedule);

}  // namespace heddle::trace
