// SPDX-License-Identifier: Apache-2.0
//
// From what the procedures suspect to what the failure needs and what brings it about: which of the
// candidates the experiments bear out, as one class, and how surely. docs/locate.md, "The proof".
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/localise/localise.h"
#include "analysis/localise/serial_orders.h"
#include "analysis/localise/suspects.h"

namespace heddle::analysis {

class Proof {
 public:
  Proof(const Observed& failed, const PassingRuns& passing, Suspects& suspects,
        Experiments& experiments, const LocaliseOptions& options);

  /// One class of all that the failure cannot do without; if there is none, each candidate as it
  /// is.
  std::vector<Finding> examine(Procedure procedure, Level level,
                               const std::vector<Candidate>& candidates);
  /// What the procedures do not see (three pairs at once, say), tried pair by pair.
  std::optional<Finding> by_experiment_alone();
  /// These pairs, forced on passing executions.
  Experience enforce(const std::vector<PairPoints>& points, const Observed& origin);
  /// Candidates without which the failure still happens.
  std::uint64_t refuted() const { return refuted_; }

 private:
  /// What became of one candidate.
  struct Examined {
    std::vector<Suspect> needed;        // of each pair the first instance the failure needs
    std::vector<Suspect> alternatives;  // the others it needs
    std::optional<Suspect> refuted;     // there is a pair of which it needs no instance
  };

  bool exhausted() const;
  Verdict forbid(const Suspect& suspect);
  Examined examine(const Candidate& candidate, Experience& forbidden);
  Finding confirm(const std::string& procedure, const std::string& level,
                  const std::vector<Suspect>& suspects);
  Experience enforce(const std::vector<Suspect>& suspects, const std::vector<Suspect>& needed);
  std::vector<Suspect> needed_beside(const std::vector<Suspect>& suspects);
  std::optional<Finding> confirmed_experiment(const std::vector<Suspect>& necessary);
  Finding make_finding(const std::string& procedure, const std::string& level,
                       const std::vector<Suspect>& suspects, const std::vector<Suspect>& needed,
                       SerialOrders& orders);

  const Observed& failed_;
  const PassingRuns& passing_;
  Suspects& suspects_;
  Experiments& experiments_;
  const LocaliseOptions& options_;
  SerialOrders seen_orders_;    // what passing runs happen to show
  SerialOrders tested_orders_;  // for what is worth executions
  std::map<PairPoints, Verdict> forbidden_;
  std::uint64_t refuted_ = 0;
};

}  // namespace heddle::analysis
