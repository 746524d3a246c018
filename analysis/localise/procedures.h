// SPDX-License-Identifier: Apache-2.0
//
// The test procedures I, II and III of LOCON (Wang et al., ASE 2014; Algorithms 1-3): which access
// pairs tell one failed run from the runs that passed. Definitions: docs/locate.md.
#pragma once

#include <optional>
#include <vector>

#include "analysis/localise/pairs.h"

namespace heddle::analysis {

enum class Procedure : std::uint8_t { One, Two, Three };
/// "I", "II", "III".
const char* to_text(Procedure procedure);

/// A pair, or two that are suspicious only together.
struct Candidate {
  std::vector<std::uint32_t> pairs;  // ids
  bool in_failed_run = true;         // false: the run ended before their second access (II)
  std::optional<Rounds> rounds;      // only in these (II at LOOP)
};

/// What the procedures compare. `passing` may be empty: then everything is suspicious.
struct Evidence {
  const Accesses& failed_accesses;
  const RunPairs& failed;
  const std::vector<RunPairs>& passing;
  PairTable& table;
};

/// Whether `implied` is predictable by `by`: its first access comes before that of `by`, its second
/// after, by program order, creation and joining; so wherever `by` is, `implied` is too.
bool predictable(const Accesses& accesses, const PairInstance& implied, const PairInstance& by);

/// In the order in which a person should look at them.
std::vector<Candidate> test_procedure(Procedure procedure, Level level, const Evidence& evidence);

}  // namespace heddle::analysis
