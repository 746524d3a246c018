// SPDX-License-Identifier: Apache-2.0
//
// Asks the oracle and judges its answers by the criterion of reduce.h; counts what that cost.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/reduce/reduce.h"
#include "analysis/reduce/sequential.h"

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
  std::string signature;     // of what came instead
  std::uint64_t number = 0;  // of the attempt
  Attempt attempt;           // if accepted
};

/// What of a schedule decides what an execution that follows it does.
std::string key_of(const trace::Schedule& schedule);

class Trials {
 public:
  Trials(ReducingOracle& oracle, const Attempt& original, const ReduceOptions& options,
         Reduction& result);

  /// A schedule to be judged that is to have about so many events: one that has not failed long
  /// after these is given up.
  BoundedSchedule bounded(trace::Schedule schedule, std::uint64_t events,
                          const Common& common = {}) const;

  /// Judges candidates until the first that is accepted, which is the last of the result. Several
  /// are executed at once where the oracle can, also behind the accepted one.
  std::vector<Judged> judge(std::span<const BoundedSchedule> candidates);
  /// The same, but only (I) is asked: for schedules that leave out what the best so far leaves out,
  /// and where (II) is asked of the result.
  std::vector<Judged> judge_failure(std::span<const BoundedSchedule> candidates);
  /// (II) of a run that has met (I).
  bool is_concurrent(const Attempt& attempt);

  /// Whether candidates were turned down by (II) that may not have to be: to be asked when a part
  /// that leaves something out is over.
  bool revise(const Attempt& best);
  /// Says in the result in which order the best run passes.
  void confirm(const Attempt& best);

  /// Looks for the failure with fewer preemptions than `run`, without what that leaves out.
  SearchResult search_below(const Attempt& run);

  /// Looks for the failure in a few schedules of the program that `schedule` leaves, within so many
  /// events, and asks (II) of what it finds. `alone`: as in SearchRequest.
  std::optional<Attempt> search_any(const trace::Schedule& schedule, const Common& alone,
                                    std::uint64_t most_events);
  /// How many events that may still cost, where it has cost `searched`.
  std::uint64_t worth_searching(std::uint64_t searched) const;

  /// How many executions like `run` a guess may cost: together about as much as the original.
  std::size_t affordable(const Attempt& run) const;

  /// How many trials are executed at the same time.
  std::size_t at_once() const { return oracle_.parallel(); }
  /// How many events trials may have without a success where what they could take off is little:
  /// about as many as the original run.
  std::uint64_t may_be_in_vain() const;

  bool stopping();
  /// Tells the user what is being done.
  void report(const char* phase, const Attempt& best);

 private:
  Verdict same_failure(const Attempt& attempt) const;
  Verdict in_sequence(const Attempt& attempt);
  bool starves(const Attempt& attempt) const;
  std::vector<Judged> judge(std::span<const BoundedSchedule> candidates, bool both);
  void count(const Attempt& attempt);

  ReducingOracle& oracle_;
  const Attempt& original_;
  const ReduceOptions& options_;
  Reduction& result_;
  const std::string signature_;
  SequentialCheck sequential_;
  // What was turned down by (I), and by both, by what the schedule says: the same would happen
  // again.
  std::unordered_map<std::string, Judged> other_outcome_;
  std::unordered_map<std::string, Judged> turned_down_;
  // What was left out where trials passed in which nothing was decided.
  std::unordered_set<std::string> pass_undecided_;
  std::string nothing_below_;  // of what and how many preemptions it is known that all are needed
};

}  // namespace heddle::analysis
