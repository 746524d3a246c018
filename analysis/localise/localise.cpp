// SPDX-License-Identifier: Apache-2.0
#include "analysis/localise/localise.h"

#include <algorithm>
#include <utility>

#include "analysis/localise/classify.h"
#include "analysis/localise/deadlock.h"
#include "analysis/localise/passing_runs.h"
#include "analysis/localise/proof.h"
#include "analysis/reduce/ddmin.h"
#include "base/error.h"
#include "trace/signature.h"

namespace heddle::analysis {
namespace {

constexpr std::size_t kMaxCandidates = 40;
constexpr std::size_t kMaxSimplifying = 150;  // executions
constexpr std::size_t kMaxPreempting = 300;   // executions

struct Stage {
  Procedure procedure;
  Level level;
};

std::vector<Stage> stages(const LocaliseOptions& options) {
  std::vector<Stage> result;
  for (const Stage stage :
       {Stage{Procedure::One, Level::Pc}, Stage{Procedure::Two, Level::Pc},
        Stage{Procedure::Three, Level::Pc}, Stage{Procedure::Three, Level::Tid},
        Stage{Procedure::Three, Level::Loop}, Stage{Procedure::Two, Level::Loop}}) {
    if (options.procedure && *options.procedure != stage.procedure) continue;
    if (options.level && stage.procedure == Procedure::Three && *options.level != stage.level) {
      continue;
    }
    // At which level of its own a level that was asked for takes the place of the others.
    if (options.level && stage.procedure == Procedure::Two && stage.level == Level::Loop) continue;
    result.push_back({stage.procedure, stage.procedure != Procedure::Three && options.level
                                           ? *options.level
                                           : stage.level});
  }
  return result;
}

class Localiser {
 public:
  Localiser(SteeringOracle& oracle, Observed& failed, const LocaliseOptions& options)
      : options_(options),
        failed_(failed),
        table_(oracle.tells_loops()),
        failed_pairs_(collect_pairs(failed.accesses, failed.instances, table_)),
        passing_(oracle, failed, table_, options),
        experiments_(oracle, failed,
                     [this](Attempt&& attempt) { passing_.take(std::move(attempt)); }),
        suspects_(failed, passing_, table_),
        proof_(failed, passing_, suspects_, experiments_, options) {}

  Localisation run() {
    passing_.make();
    Localisation result;
    if (!passing_.pairs().empty()) result.findings = findings();
    for (std::size_t i = 0; i < result.findings.size(); ++i) {
      result.findings[i].rank = static_cast<std::uint32_t>(i + 1);
    }
    passing_.report(result);
    result.refuted = proof_.refuted();
    result.failed_pairs = failed_pairs_.seen.size();
    result.candidates = candidates_;
    return result;
  }

 private:
  std::vector<Finding> findings() {
    if (options_.falcon) return ranked_patterns();
    if (failed_.attempt.trace.outcome.kind == trace::FailureKind::Deadlock) {
      const auto cycle = locate_deadlock(failed_, experiments_, proof_);
      return cycle ? std::vector<Finding>{*cycle} : std::vector<Finding>{};
    }
    return located_pairs();
  }

  std::vector<Finding> located_pairs() {
    std::vector<Finding> best;
    for (const Stage& stage : stages(options_)) {
      // Each experiment that passes adds to the evidence, and later stages use it.
      const Evidence evidence{failed_.accesses, failed_pairs_, passing_.pairs(), table_};
      std::vector<Candidate> candidates = test_procedure(stage.procedure, stage.level, evidence);
      if (candidates.empty()) continue;
      candidates_ = candidates.size();
      if (candidates.size() > kMaxCandidates) candidates.resize(kMaxCandidates);
      std::vector<Finding> found = proof_.examine(stage.procedure, stage.level, candidates);
      const bool confirmed = !found.empty() && found.front().confirmed;
      if (confirmed || best.empty()) best = std::move(found);
      if (confirmed) return best;
    }
    if (!options_.procedure) {
      if (auto finding = proof_.by_experiment_alone()) best.insert(best.begin(), *finding);
    }
    return best;
  }

  /// Falcon's ranking: by score, equal ones by occurrence.
  std::vector<Finding> ranked_patterns() {
    struct Ranked {
      double score;
      std::vector<std::size_t> events;
    };
    std::vector<Ranked> ranked;
    for (auto& [pattern, events] : falcon_patterns(failed_.accesses)) {
      ranked.push_back({jaccard(passing_.with_pattern(pattern)), events});
    }
    std::sort(ranked.begin(), ranked.end(), [](const Ranked& x, const Ranked& y) {
      return x.score != y.score ? x.score > y.score : x.events.back() < y.events.back();
    });
    SerialOrders orders(passing_.bases(), nullptr);
    std::vector<Finding> result;
    for (const Ranked& row : ranked) {
      Finding finding;
      finding.procedure = "falcon";
      finding.level = to_text(Level::Pc);
      finding.score = row.score;
      for (std::size_t i = 0; i + 1 < row.events.size(); ++i) {
        finding.pairs.push_back(
            suspects_.found_pair(suspects_.of(0, failed_, row.events[i], row.events[i + 1]), true));
      }
      classify(finding, failed_, orders);
      result.push_back(std::move(finding));
    }
    return result;
  }

  const LocaliseOptions& options_;
  Observed& failed_;
  PairTable table_;
  RunPairs failed_pairs_;
  std::uint64_t candidates_ = 0;  // of the last procedure that had any
  PassingRuns passing_;
  Experiments experiments_;
  Suspects suspects_;
  Proof proof_;
};

void check_given(const trace::Trace& failed, const std::vector<Attempt>& given) {
  for (const Attempt& attempt : given) {
    const trace::Trace& trace = attempt.trace;
    if (trace.header.build_id != failed.header.build_id) {
      throw user_error("a given run is of another program or build (" + trace.header.program +
                       ", build " + trace.header.build_id.substr(0, 12) +
                       "): only runs of one build can be compared; see which is which with: heddle "
                       "ls");
    }
    if (trace.outcome.failed()) {
      throw user_error("a given run failed (" + trace::signature(trace) +
                       "): passing runs are asked for; see them with: heddle ls");
    }
  }
}

/// The failed run with as few of its decisions as still make it fail: switches that it does not
/// need make pairs that only happen to be there, and hide that one order would be enough.
Attempt simplified(SteeringOracle& oracle, Attempt failed, const LocaliseOptions& options) {
  const std::string signature = trace::signature(failed.trace);
  const trace::Schedule schedule = failed.schedule;
  std::size_t executions = 0;
  ddmin<trace::Decision>(
      schedule.decisions,
      [&](const Candidates<trace::Decision>& candidates) -> std::optional<std::size_t> {
        for (std::size_t i = 0; i < candidates.size(); ++i) {
          if (++executions > kMaxSimplifying || (options.stop && options.stop())) break;
          if (options.progress) options.progress("simplifying", executions);
          trace::Schedule simpler = schedule;
          simpler.decisions = candidates[i];
          Attempt attempt = oracle.follow(simpler);
          if (trace::signature(attempt.trace) != signature) continue;
          failed = std::move(attempt);
          return i;
        }
        return std::nullopt;
      });
  return failed;
}

/// The same failure with a single preemption, if a few executions find it so.
std::optional<Attempt> with_one_preemption(SteeringOracle& oracle, const Attempt& failed,
                                           const LocaliseOptions& options) {
  const std::string signature = trace::signature(failed.trace);
  trace::Schedule schedule = failed.schedule;
  schedule.decisions.clear();
  const Attempt sequential = oracle.follow(schedule);
  const Accesses accesses(sequential.trace);
  const std::size_t threads = sequential.trace.threads.size();
  const std::size_t points = sequential.trace.events.size() * threads;
  const std::size_t stride = std::max<std::size_t>(1, points / kMaxPreempting);
  for (std::size_t i = 0; i < points; i += stride) {
    if (options.stop && options.stop()) break;
    const Point point = accesses.decision_point(i / threads);
    const std::string& target = sequential.trace.threads[i % threads].path;
    if (target == point.thread) continue;
    if (options.progress) options.progress("one preemption", i / stride);
    trace::Decision decision;
    decision.thread = point.thread;
    decision.site = point.site;
    decision.occurrence = point.occurrence;
    decision.target = target;
    schedule.decisions = {decision};
    Attempt attempt = oracle.follow(schedule);
    if (trace::signature(attempt.trace) == signature) return attempt;
  }
  return std::nullopt;
}

}  // namespace

const char* to_text(BugClass bug_class) {
  switch (bug_class) {
    case BugClass::OrderViolation: return "order-violation";
    case BugClass::AtomicityViolation: return "atomicity-violation";
    case BugClass::MultiVariableAtomicityViolation: return "multi-variable-atomicity-violation";
    case BugClass::Deadlock: return "deadlock";
    case BugClass::MissedNotification: return "missed-notification";
    case BugClass::MemoryOrderViolation: break;
  }
  return "memory-order-violation";
}

Localisation localise(SteeringOracle& oracle, const Attempt& failed,
                      const LocaliseOptions& options) {
  if (!failed.trace.outcome.failed()) {
    throw user_error(
        "the run did not fail: there is nothing to locate; find a failure with: "
        "heddle explore");
  }
  check_given(failed.trace, options.given);
  // What a reduction does not see any more, as the failure does not depend on it, may be what keeps
  // other schedules from failing.
  trace::Schedule seeing_all = failed.schedule;
  seeing_all.overlooked.clear();
  Attempt back = oracle.follow(seeing_all);
  if (trace::signature(back.trace) != trace::signature(failed.trace)) {
    const bool rebuilt = back.trace.header.build_id != failed.trace.header.build_id;
    throw user_error("the failure does not come back (" + trace::signature(failed.trace) +
                     " was expected, " + trace::signature(back.trace) +
                     " came), so it cannot be located; " +
                     (rebuilt ? "the program was built anew since: look for it in this build with: "
                                "heddle explore"
                              : "see what differs with: heddle replay"));
  }
  Observed again(simplified(oracle, std::move(back), options));
  Localisation result = Localiser(oracle, again, options).run();
  result.failed = std::move(again.attempt);
  const auto confirmed = [](const Localisation& it) {
    return !it.findings.empty() && it.findings.front().confirmed;
  };
  if (options.falcon || options.procedure || confirmed(result)) return result;
  // Where a run shows the bug in several ways at once, no single order makes it pass.
  std::optional<Attempt> simplest = with_one_preemption(oracle, result.failed, options);
  if (!simplest) return result;
  Observed other(std::move(*simplest));
  Localisation of_other = Localiser(oracle, other, options).run();
  if (!confirmed(of_other)) return result;
  of_other.failed = std::move(other.attempt);
  return of_other;
}

}  // namespace heddle::analysis
