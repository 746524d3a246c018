// SPDX-License-Identifier: Apache-2.0
//
// LEAN's slicing step, as far as machine code can be skipped safely: not the accesses that the
// failure does not depend on, but seeing them. They are done by the program alone, are no events
// and no points of the schedule (docs/decisions/0021-shutters.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace heddle::analysis {

/// One line of source whose accesses are overlooked.
struct OverlookedLine {
  trace::Frame place;          // line 0: not known
  std::uint64_t accesses = 0;  // of the run, at all of its sites
  std::uint64_t sites = 0;
};

/// Whether a slice tells what the failure depends on. Not where the program's output or its exit
/// status is what is wrong, which anything may have to do with, nor where it does not end: a thread
/// that spins on what nobody sees would never give way.
bool has_slice(const trace::Outcome& outcome);

/// Where iterations begin and end is nothing that a failure could depend on.
trace::Trace without_iterations(trace::Trace trace);

/// Keys of the sites at which the run has plain accesses and none of them is `needed` (by event).
/// The sites that the failure is told at are always seen: whether memory had been freed is noticed
/// there.
std::vector<std::string> sites_to_overlook(const trace::Trace& trace,
                                           const std::vector<bool>& needed);

/// Where the accesses of `before` are that `sites` leave out, most accesses first.
std::vector<OverlookedLine> overlooked_lines(const trace::Trace& before,
                                             const std::vector<std::string>& sites);

/// Whether the access can be overlooked at all.
bool is_plain_access(trace::EventKind kind);

}  // namespace heddle::analysis
