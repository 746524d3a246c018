// SPDX-License-Identifier: Apache-2.0
//
// The baseline LOCON is compared with: Falcon (Park et al., ICSE 2010). Patterns of accesses to one
// location within a window of five, ranked by how often they come with the failure (Jaccard index).
#pragma once

#include <map>
#include <vector>

#include "analysis/localise/pairs.h"

namespace heddle::analysis {

/// Two accesses of two threads that conflict, or three of which the outer ones are one thread's and
/// the three cannot be put in a sequence. Threads are left out.
using Pattern = std::vector<AccessName>;

/// The patterns of one execution, each with the events of its first occurrence.
std::map<Pattern, std::vector<std::size_t>> falcon_patterns(const Accesses& accesses);

/// With one failed run, which has the pattern: 1 / (1 + passing runs that have it).
double jaccard(std::uint64_t passing_with_pattern);

}  // namespace heddle::analysis
