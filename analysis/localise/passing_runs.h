// SPDX-License-Identifier: Apache-2.0
//
// Passing runs, made on purpose: the failing schedule with one decision flipped at a time, then
// ones by chance, then ones with random delays, until they show nothing new.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "analysis/finding.h"
#include "analysis/localise/experiment.h"
#include "analysis/localise/falcon.h"
#include "analysis/localise/localise.h"

namespace heddle::analysis {

class PassingRuns {
 public:
  PassingRuns(SteeringOracle& oracle, const Observed& failed, PairTable& table,
              const LocaliseOptions& options);

  void make();
  /// Sorts an execution in: passing, the same failure, another failure.
  void take(Attempt attempt);

  const std::vector<RunPairs>& pairs() const { return pairs_; }
  /// Some passing executions as a whole, the nearest ones among them.
  const std::vector<std::unique_ptr<Observed>>& bases() const { return bases_; }
  /// In how many passing runs a pattern of Falcon's is.
  std::uint64_t with_pattern(const Pattern& pattern) const;
  void report(Localisation& result) const;

 private:
  bool stopping() const;
  void near();
  void by_chance(std::uint64_t most, std::string_view phase,
                 const std::function<Attempt(std::uint64_t seed)>& execute);

  SteeringOracle& oracle_;
  const Observed& failed_;
  PairTable& table_;
  const LocaliseOptions& options_;
  const std::string signature_;
  std::vector<RunPairs> pairs_;
  std::vector<std::unique_ptr<Observed>> bases_;
  std::size_t base_events_ = 0;
  std::map<Pattern, std::uint64_t> patterns_;
  std::set<std::uint32_t> known_;
  std::vector<std::uint64_t> curve_;
  std::uint64_t without_news_ = 0;
  std::uint64_t executions_ = 0;
  bool saturated_ = false;
  std::map<std::string, std::uint64_t> other_failures_;
  std::optional<Attempt> nearest_;
  std::size_t common_events_ = 0;
};

}  // namespace heddle::analysis
