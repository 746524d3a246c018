// SPDX-License-Identifier: Apache-2.0
//
// Pairs that a procedure names, as events of an execution that has them: what can be experimented
// with and shown on source lines.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "analysis/finding.h"
#include "analysis/localise/experiment.h"
#include "analysis/localise/passing_runs.h"
#include "analysis/localise/procedures.h"

namespace heddle::analysis {

/// A pair of the failed run, or one it did not come to.
struct Suspect {
  std::uint32_t id = 0;
  PairPoints points;
  const Observed* origin = nullptr;  // the execution that has its events
  std::size_t first = 0;             // events of `origin`
  std::size_t second = 0;
  bool in_failed_run = true;
};

/// Adds those of `more` that are not there yet.
void add(std::vector<Suspect>& to, const std::vector<Suspect>& more);

class Suspects {
 public:
  Suspects(const Observed& failed, const PassingRuns& passing, PairTable& table);

  /// Where the candidate's pair `id` is, the latest first: what matters is nearly always close to
  /// the failure.
  std::vector<Suspect> of(const Candidate& candidate, std::uint32_t id);
  /// An instance of the failed run.
  Suspect of(const PairInstance& instance);
  /// Two events of an execution, which need not be a pair.
  Suspect of(std::uint32_t id, const Observed& origin, std::size_t first, std::size_t second) const;
  /// Pairs of passing runs whose second access the failed run had without the first, which it did
  /// not come to, turned round: procedure II without its demand that passing runs agree.
  std::vector<Suspect> cut_off();

  FoundPair found_pair(const Suspect& suspect, bool suspicious) const;

 private:
  PairNames& names_of(const Observed& run);

  const Observed& failed_;
  const PassingRuns& passing_;
  PairTable& table_;
  std::map<const Observed*, PairNames> names_;
  std::map<std::uint32_t, std::vector<PairInstance>> instances_;  // of the failed run
};

/// An event of `origin`, on its source line; and which event of the failed run it is, if any.
FoundAccess found_access(const Observed& origin, std::size_t event, const Observed& failed);
/// Says where in memory the pair is.
void set_memory(FoundPair& pair, const trace::Trace& trace, trace::ObjectIndex object,
                std::uint64_t offset);

}  // namespace heddle::analysis
