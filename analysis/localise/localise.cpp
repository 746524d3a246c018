// SPDX-License-Identifier: Apache-2.0
#include "analysis/localise/localise.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analysis/localise/classify.h"
#include "analysis/localise/passing_runs.h"
#include "base/error.h"
#include "trace/signature.h"
#include "trace/words.h"

namespace heddle::analysis {
namespace {

constexpr std::size_t kMaxInstances = 6;  // of one pair, from its last, that are experimented with
constexpr std::size_t kMaxCandidates = 40;

struct Stage {
  Procedure procedure;
  Level level;
};

std::vector<Stage> stages(const LocaliseOptions& options) {
  std::vector<Stage> result;
  for (const Stage stage : {Stage{Procedure::One, Level::Pc}, Stage{Procedure::Two, Level::Pc},
                            Stage{Procedure::Three, Level::Pc}, Stage{Procedure::Three, Level::Tid},
                            Stage{Procedure::Three, Level::Loop}}) {
    if (options.procedure && *options.procedure != stage.procedure) continue;
    if (options.level && stage.procedure == Procedure::Three && *options.level != stage.level) {
      continue;
    }
    result.push_back({stage.procedure, stage.procedure != Procedure::Three && options.level
                                           ? *options.level
                                           : stage.level});
  }
  return result;
}

/// A pair of the failed run, or one it did not come to, ready to be experimented with.
struct Suspect {
  std::uint32_t id = 0;
  PairPoints points;
  const Observed* origin = nullptr;  // the execution that has its events
  std::size_t first = 0;             // events of `origin`
  std::size_t second = 0;
  bool in_failed_run = true;
};

class Localiser {
 public:
  Localiser(SteeringOracle& oracle, Observed& failed, const LocaliseOptions& options)
      : options_(options),
        failed_(failed),
        failed_pairs_(collect_pairs(failed.accesses, failed.instances, table_)),
        passing_(oracle, failed, table_, options),
        experiments_(oracle, failed,
                     [this](Attempt&& attempt) { passing_.take(std::move(attempt)); }) {
    for (const PairInstance& instance : failed.instances) {
      instances_[id_of(instance)].push_back(instance);
    }
  }

  Localisation run() {
    passing_.make();
    if (!passing_.pairs().empty()) {
      if (options_.falcon) {
        rank_patterns();
      } else if (failed_.attempt.trace.outcome.kind == trace::FailureKind::Deadlock) {
        locate_deadlock();
      } else {
        locate_pairs();
      }
    }
    for (std::size_t i = 0; i < result_.findings.size(); ++i) {
      result_.findings[i].rank = static_cast<std::uint32_t>(i + 1);
    }
    const std::uint64_t refuted = result_.refuted;
    passing_.report(result_);
    result_.refuted = refuted;
    return std::move(result_);
  }

 private:
  std::uint32_t id_in(const Observed& run, const PairInstance& instance) {
    return collect_pairs(run.accesses, {instance}, table_).seen.front().id;
  }
  std::uint32_t id_of(const PairInstance& instance) { return id_in(failed_, instance); }

  bool exhausted() const {
    return experiments_.executions() >= options_.max_experiments ||
           (options_.stop && options_.stop());
  }

  /// Where the pair is, the latest first: what matters is nearly always close to the failure.
  std::vector<Suspect> suspects(std::uint32_t id, bool in_failed_run) {
    std::vector<Suspect> result;
    if (in_failed_run) {
      const std::vector<PairInstance>& all = instances_[id];
      for (std::size_t i = all.size(); i-- > 0 && result.size() < kMaxInstances;) {
        result.push_back(suspect(id, failed_, all[i].first, all[i].second));
      }
      return result;
    }
    const std::uint32_t original = table_.reversed(id);
    for (const auto& base : passing_.bases()) {
      for (const PairInstance& instance : base->instances) {
        if (table_.pc(id_in(*base, instance)) != table_.pc(original)) continue;
        const Suspect found = suspect(id, *base, instance.second, instance.first);
        const bool known = std::any_of(result.begin(), result.end(), [&](const Suspect& other) {
          return other.points == found.points;
        });
        if (!known && result.size() < kMaxInstances) result.push_back(found);
      }
    }
    return result;
  }

  Suspect suspect(std::uint32_t id, const Observed& origin, std::size_t first,
                  std::size_t second) const {
    Suspect result{id,      {origin.accesses.point(first), origin.accesses.point(second)},
                   &origin, first,
                   second,  true};
    const auto in_failed = failed_.accesses.find(result.points.first);
    const auto then = failed_.accesses.find(result.points.second);
    result.in_failed_run = in_failed && then && *in_failed < *then;
    return result;
  }

  Verdict forbid(const Suspect& suspect) {
    const auto known = forbidden_.find(suspect.points);
    if (known != forbidden_.end()) return known->second;
    if (options_.progress) options_.progress("experiments", experiments_.executions());
    const Verdict verdict = experiments_.forbid(suspect.points);
    forbidden_.emplace(suspect.points, verdict);
    return verdict;
  }

  void locate_pairs() {
    std::vector<Finding> unconfirmed;
    for (const Stage& stage : stages(options_)) {
      // Each experiment that passes adds to the evidence, and later stages use it.
      const Evidence evidence{failed_.accesses, failed_pairs_, passing_.pairs(), table_};
      std::vector<Candidate> candidates = test_procedure(stage.procedure, stage.level, evidence);
      if (candidates.empty()) continue;
      if (candidates.size() > kMaxCandidates) candidates.resize(kMaxCandidates);
      std::vector<Finding> found = examine(stage, candidates);
      const bool confirmed = !found.empty() && found.front().confirmed;
      if (confirmed || unconfirmed.empty()) unconfirmed = std::move(found);
      if (confirmed) break;
    }
    if ((unconfirmed.empty() || !unconfirmed.front().confirmed) && !options_.procedure) {
      if (auto finding = by_experiment_alone()) unconfirmed.insert(unconfirmed.begin(), *finding);
    }
    result_.findings = std::move(unconfirmed);
  }

  /// One class of all that the failure cannot do without; the rest, unless refuted, behind it.
  std::vector<Finding> examine(const Stage& stage, const std::vector<Candidate>& candidates) {
    std::vector<Suspect> necessary;
    std::vector<Finding> rest;
    Experience forbidden;
    for (const Candidate& candidate : candidates) {
      std::vector<Suspect> held;
      bool refuted = false;
      std::vector<Suspect> all;
      for (const std::uint32_t id : candidate.pairs) {
        bool pair_holds = false;
        for (const Suspect& suspect : suspects(id, candidate.in_failed_run)) {
          all.push_back(suspect);
          if (pair_holds || exhausted()) break;
          const Verdict verdict = forbid(suspect);
          if (verdict == Verdict::Impossible) continue;
          ++forbidden.possible;
          if (verdict == Verdict::Holds) {
            ++forbidden.held;
            held.push_back(suspect);
            pair_holds = true;
          }
        }
        refuted = refuted || !pair_holds;
      }
      if (!refuted) {
        add(necessary, held);
      } else if (!all.empty()) {
        ++result_.refuted;
        Finding finding = make_finding(stage, {all.front()}, {});
        rest.push_back(std::move(finding));
      }
    }
    if (necessary.empty()) return rest;
    std::vector<Finding> found{confirm(to_text(stage.procedure), to_text(stage.level), necessary)};
    found.front().forbidden = forbidden;
    return found;
  }

  static void add(std::vector<Suspect>& to, const std::vector<Suspect>& more) {
    for (const Suspect& suspect : more) {
      const bool known = std::any_of(to.begin(), to.end(), [&](const Suspect& other) {
        return other.points == suspect.points;
      });
      if (!known) to.push_back(suspect);
    }
  }

  Finding confirm(const std::string& procedure, const std::string& level,
                  const std::vector<Suspect>& suspects) {
    const std::vector<Suspect> needed = needed_beside(suspects);
    Experience alone = enforce(suspects, {});
    Experience all = alone;
    if (alone.held < alone.possible || alone.possible == 0) {
      const Experience together = enforce(suspects, needed);
      if (together.held * std::max<std::uint64_t>(1, alone.possible) >=
          alone.held * std::max<std::uint64_t>(1, together.possible)) {
        all = together;
      }
    }
    Finding finding = make_finding({Procedure::One, Level::Pc}, suspects, needed);
    finding.procedure = procedure;
    finding.level = level;
    finding.enforced = all;
    finding.confirmed = all.held > 0 && 2 * all.held >= all.possible;
    return finding;
  }

  Experience enforce(const std::vector<Suspect>& suspects, const std::vector<Suspect>& needed) {
    Experience result;
    std::vector<PairPoints> points;
    for (const Suspect& suspect : suspects) points.push_back(suspect.points);
    for (const Suspect& suspect : needed) points.push_back(suspect.points);
    const std::size_t count = passing_.bases().size();  // experiments add to them
    for (std::size_t i = 0; i < count && result.possible < 5; ++i) {
      const Verdict verdict =
          experiments_.enforce(points, *passing_.bases()[i], *suspects.front().origin);
      if (verdict == Verdict::Impossible) continue;
      ++result.possible;
      if (verdict == Verdict::Holds) ++result.held;
    }
    return result;
  }

  /// Other pairs between the same threads without which there is no failure either, except those
  /// that the suspects imply.
  std::vector<Suspect> needed_beside(const std::vector<Suspect>& suspects) {
    std::set<trace::ThreadId> threads;
    for (const Suspect& suspect : suspects) {
      for (const Point* point : {&suspect.points.first, &suspect.points.second}) {
        for (trace::ThreadId i = 0; i < failed_.attempt.trace.threads.size(); ++i) {
          const std::string& path = failed_.attempt.trace.threads[i].path;
          if (path == point->thread || path + "~" == point->thread) threads.insert(i);
        }
      }
    }
    std::vector<Suspect> result;
    for (std::size_t i = failed_.instances.size(); i-- > 0;) {
      if (exhausted() || failed_.instances.size() - i > kMaxCandidates) break;
      const PairInstance& instance = failed_.instances[i];
      if (!threads.contains(failed_.accesses.owner(instance.first)) ||
          !threads.contains(failed_.accesses.owner(instance.second))) {
        continue;
      }
      const PairPoints points{failed_.accesses.point(instance.first),
                              failed_.accesses.point(instance.second)};
      const bool implied = std::any_of(suspects.begin(), suspects.end(), [&](const Suspect& other) {
        if (other.points == points) return true;
        return other.origin == &failed_ &&
               predictable(failed_.accesses, instance, {other.first, other.second});
      });
      if (implied) continue;
      const Suspect other = suspect(id_of(instance), failed_, instance.first, instance.second);
      if (forbid(other) == Verdict::Holds) result.push_back(other);
    }
    std::reverse(result.begin(), result.end());
    return result;
  }

  /// What the procedures do not see (three pairs at once, say), tried pair by pair.
  std::optional<Finding> by_experiment_alone() {
    std::vector<Suspect> necessary;
    for (std::size_t i = failed_.instances.size(); i-- > 0;) {
      if (exhausted() || failed_.instances.size() - i > 2 * kMaxCandidates) break;
      const PairInstance& instance = failed_.instances[i];
      const Suspect it = suspect(id_of(instance), failed_, instance.first, instance.second);
      if (forbid(it) == Verdict::Holds) necessary.push_back(it);
    }
    std::reverse(necessary.begin(), necessary.end());
    if (auto finding = confirmed_experiment(necessary)) return finding;
    const std::vector<Suspect> missing = cut_off();
    for (const Suspect& one : missing) {
      std::vector<Suspect> with_one = necessary;
      with_one.push_back(one);
      if (auto finding = confirmed_experiment(with_one)) return finding;
    }
    add(necessary, missing);
    return confirmed_experiment(necessary);
  }

  std::optional<Finding> confirmed_experiment(const std::vector<Suspect>& necessary) {
    if (necessary.empty() || exhausted()) return std::nullopt;
    Finding finding = confirm("experiment", to_text(Level::Tid), necessary);
    finding.forbidden = {necessary.size(), necessary.size()};
    if (!finding.confirmed) return std::nullopt;
    return finding;
  }

  /// Pairs of passing runs whose second access the failed run had without the first, which it did
  /// not come to: procedure II without its demand that passing runs agree.
  std::vector<Suspect> cut_off() {
    std::vector<Suspect> result;
    std::set<PairPoints> tried;
    for (std::size_t i = 0; i < passing_.bases().size(); ++i) {
      const Observed& base = *passing_.bases()[i];
      for (const PairInstance& instance : base.instances) {
        const PairPoints points{base.accesses.point(instance.second),
                                base.accesses.point(instance.first)};
        if (exhausted() || !tried.insert(points).second || !failed_.accesses.find(points.first) ||
            failed_.accesses.find(points.second)) {
          continue;
        }
        const Suspect it =
            suspect(table_.reversed(id_in(base, instance)), base, instance.second, instance.first);
        if (forbid(it) == Verdict::Holds) result.push_back(it);
      }
    }
    return result;
  }

  FoundAccess found_access(const Observed& origin, std::size_t event) const {
    const trace::Trace& trace = origin.attempt.trace;
    FoundAccess access;
    access.point = origin.accesses.point(event);
    if (const trace::Frame* const frame = trace::source_frame(trace, trace.events[event].site)) {
      access.frame = *frame;
    }
    access.thread = trace.threads[origin.accesses.owner(event)].path;
    access.role = to_text(origin.accesses.role(event));
    access.event = failed_.accesses.find(access.point);
    return access;
  }

  static void set_memory(FoundPair& pair, const trace::Trace& trace, trace::ObjectIndex object,
                         std::uint64_t offset) {
    pair.variable = trace::memory_name(trace, object, offset);
    pair.object_kind = trace.objects[object].kind;
    pair.object = trace.objects[object].name;
    pair.offset = offset;
  }

  FoundPair found_pair(const Suspect& suspect, bool suspicious) const {
    const trace::Trace& trace = suspect.origin->attempt.trace;
    const trace::Event& event = trace.events[suspect.second];
    FoundPair pair;
    set_memory(pair, trace, event.object, event.offset);
    pair.first = found_access(*suspect.origin, suspect.first);
    pair.second = found_access(*suspect.origin, suspect.second);
    pair.in_failed_run = suspect.in_failed_run;
    pair.suspicious = suspicious;
    return pair;
  }

  Finding make_finding(const Stage& stage, const std::vector<Suspect>& suspects,
                       const std::vector<Suspect>& needed) {
    Finding finding;
    finding.procedure = to_text(stage.procedure);
    finding.level = to_text(stage.level);
    for (const Suspect& suspect : suspects) finding.pairs.push_back(found_pair(suspect, true));
    for (const Suspect& suspect : needed) finding.pairs.push_back(found_pair(suspect, false));
    classify(finding, failed_, passing_.bases());
    return finding;
  }

  /// Falcon's ranking: by score, equal ones by occurrence.
  void rank_patterns() {
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
    for (const Ranked& row : ranked) {
      Finding finding;
      finding.procedure = "falcon";
      finding.level = to_text(Level::Pc);
      finding.score = row.score;
      for (std::size_t i = 0; i + 1 < row.events.size(); ++i) {
        finding.pairs.push_back(
            found_pair(suspect(0, failed_, row.events[i], row.events[i + 1]), true));
      }
      classify(finding, failed_, passing_.bases());
      result_.findings.push_back(std::move(finding));
    }
  }

  /// The waits say it all: each thread of the cycle has what another waits for.
  void locate_deadlock() {
    const trace::Trace& trace = failed_.attempt.trace;
    Finding finding;
    finding.procedure = "cycle";
    finding.level = to_text(Level::Tid);
    finding.bug_class = BugClass::Deadlock;
    std::vector<PairPoints> points;
    for (const trace::Wait& wait : trace::cycle_of(trace.outcome.waits)) {
      if (wait.holder == trace::kNone || wait.object == trace::kNone) continue;
      std::optional<std::size_t> acquired;
      std::uint32_t visits = 0;
      for (std::size_t i = 0; i < trace.events.size(); ++i) {
        const trace::Event& event = trace.events[i];
        if (event.thread == wait.holder && event.object == wait.object &&
            event.offset == wait.offset && event.site == wait.holder_site) {
          acquired = i;
        }
        if (event.thread == wait.thread && event.site == wait.site) ++visits;
      }
      if (!acquired) continue;
      FoundPair pair;
      set_memory(pair, trace, wait.object, wait.offset);
      pair.first = found_access(failed_, *acquired);
      pair.first.role = "lock";
      pair.second.point = {trace.threads[wait.thread].path, trace.sites[wait.site].key, visits + 1};
      pair.second.thread = trace.threads[wait.thread].path;
      pair.second.role = "wait";
      if (const trace::Frame* const frame = trace::source_frame(trace, wait.site)) {
        pair.second.frame = *frame;
      }
      points.push_back({pair.first.point, pair.second.point});
      finding.pairs.push_back(std::move(pair));
    }
    if (finding.pairs.empty()) return;
    for (const PairPoints& pair : points) {
      const Verdict verdict = experiments_.forbid(pair);
      if (verdict == Verdict::Impossible) continue;
      ++finding.forbidden.possible;
      if (verdict == Verdict::Holds) ++finding.forbidden.held;
    }
    const std::size_t count = passing_.bases().size();
    for (std::size_t i = 0; i < count && finding.enforced.possible < 5; ++i) {
      const Verdict verdict = experiments_.enforce(points, *passing_.bases()[i], failed_);
      if (verdict == Verdict::Impossible) continue;
      ++finding.enforced.possible;
      if (verdict == Verdict::Holds) ++finding.enforced.held;
    }
    finding.confirmed = finding.forbidden.held > 0 && finding.enforced.held > 0;
    result_.findings.push_back(std::move(finding));
  }

  const LocaliseOptions& options_;
  Observed& failed_;
  PairTable table_;
  RunPairs failed_pairs_;
  std::map<std::uint32_t, std::vector<PairInstance>> instances_;
  PassingRuns passing_;
  Experiments experiments_;
  std::map<PairPoints, Verdict> forbidden_;
  Localisation result_;
};

void check_given(const trace::Trace& failed, const std::vector<trace::Trace>& given) {
  for (const trace::Trace& trace : given) {
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
  Observed again(oracle.follow(failed.schedule));
  if (trace::signature(again.attempt.trace) != trace::signature(failed.trace)) {
    throw user_error("the failure does not come back (" + trace::signature(failed.trace) +
                     " was expected, " + trace::signature(again.attempt.trace) +
                     " came), so it cannot be located; see what differs with: heddle replay");
  }
  Localisation result = Localiser(oracle, again, options).run();
  result.failed = std::move(again.attempt);
  return result;
}

}  // namespace heddle::analysis
