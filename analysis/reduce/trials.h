// SPDX-License-Identifier: Apache-2.0
//
// Asks the oracle and judges its answers by the criterion of reduce.h; counts what that cost.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/reduce/reduce.h"

namespace heddle::analysis {

enum class Verdict {
  Accepted,
  Passes,             // the failure does not come back
  FailsOtherwise,     // into another bug
  FailsSequentially,  // the failure comes back however it is scheduled: something is missing
  Starves,            // threads wait for what was left out
  NotAsked,           // the user wants to stop
};

struct Judged {
  Verdict verdict = Verdict::NotAsked;
  Attempt attempt;
};

class Trials {
 public:
  Trials(ReducingOracle& oracle, const Attempt& original, const ReduceOptions& options,
         Reduction& result);

  /// Throws a user error when the failure does not come back.
  void require_failure();
  /// Looks for an order in which the original passes when no thread is preempted, and whether it
  /// also does when every thread runs as soon as it is created.
  void find_passing_orders();

  /// Judges candidates until the first that is accepted, which is the last of the result. Several
  /// are executed at once where the oracle can, also behind the accepted one.
  std::vector<Judged> judge(std::span<const trace::Schedule> candidates);
  /// The same for schedules that leave out what the best so far leaves out: only (I) is asked.
  std::vector<Judged> judge_schedules(std::span<const trace::Schedule> candidates);

  /// Looks for the failure with fewer preemptions than `run`, without what that leaves out.
  SearchResult search_below(const Attempt& run);

  /// How many executions like `run` a guess may cost: together about as much as the original.
  std::size_t affordable(const Attempt& run) const;

  bool stopping();
  /// Tells the user what is being done.
  void report(const char* phase, const Attempt& best);

 private:
  Verdict criterion(const Attempt& attempt, const trace::Schedule& candidate, bool leaves_out);
  bool starves(const Attempt& attempt, const trace::Schedule& candidate) const;
  std::vector<Judged> judge(std::span<const trace::Schedule> candidates, bool leaves_out);
  void count(const Attempt& attempt);
  /// How many events a trial may have that is to replace the best so far.
  std::uint64_t room() const;

  ReducingOracle& oracle_;
  const Attempt& original_;
  const ReduceOptions& options_;
  Reduction& result_;
  const std::string signature_;
  std::optional<Attempt> children_first_;  // passes so
};

}  // namespace heddle::analysis
