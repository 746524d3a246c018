// SPDX-License-Identifier: Apache-2.0
#include "analysis/localise/proof.h"

#include <algorithm>
#include <set>

#include "analysis/localise/classify.h"

namespace heddle::analysis {
namespace {

constexpr std::size_t kMaxBeside = 40;   // pairs, from the last, that may be needed too
constexpr std::size_t kMaxTried = 80;    // pairs, from the last, tried without a procedure
constexpr std::uint64_t kMaxForced = 5;  // passing executions a class is forced on
constexpr std::size_t kMaxForcedOn = 8;  // of so many that are tried

bool more_often(const Experience& x, const Experience& y) {
  return x.held * std::max<std::uint64_t>(1, y.possible) >
         y.held * std::max<std::uint64_t>(1, x.possible);
}

}  // namespace

Proof::Proof(const Observed& failed, const PassingRuns& passing, Suspects& suspects,
             Experiments& experiments, const LocaliseOptions& options)
    : failed_(failed),
      passing_(passing),
      suspects_(suspects),
      experiments_(experiments),
      options_(options),
      seen_orders_(passing.bases(), nullptr),
      tested_orders_(passing.bases(), &experiments) {}

bool Proof::exhausted() const {
  return experiments_.executions() >= options_.max_experiments ||
         (options_.stop && options_.stop());
}

Verdict Proof::forbid(const Suspect& suspect) {
  const auto known = forbidden_.find(suspect.points);
  if (known != forbidden_.end()) return known->second;
  if (options_.progress) options_.progress("experiments", experiments_.executions());
  const Verdict verdict = experiments_.forbid(suspect.points);
  forbidden_.emplace(suspect.points, verdict);
  return verdict;
}

Proof::Examined Proof::examine(const Candidate& candidate, Experience& forbidden) {
  Examined result;
  std::optional<Suspect> first;
  for (const std::uint32_t id : candidate.pairs) {
    bool needed = false;
    for (const Suspect& suspect : suspects_.of(candidate, id)) {
      if (!first) first = suspect;
      // Of pairs the run did not come to, any number can be needed: nothing has happened yet.
      if ((needed && candidate.in_failed_run) || exhausted()) break;
      const Verdict verdict = forbid(suspect);
      if (verdict == Verdict::Impossible) continue;
      if (!needed) ++forbidden.possible;
      if (verdict != Verdict::Holds) continue;
      if (!needed) ++forbidden.held;
      (needed ? result.alternatives : result.needed).push_back(suspect);
      needed = true;
    }
    if (!needed) result.refuted = first;
  }
  return result;
}

std::vector<Finding> Proof::examine(Procedure procedure, Level level,
                                    const std::vector<Candidate>& candidates) {
  std::vector<Suspect> necessary;
  std::vector<Suspect> alternatives;
  std::vector<Finding> rest;
  Experience forbidden;
  for (const Candidate& candidate : candidates) {
    const Examined examined = examine(candidate, forbidden);
    if (examined.refuted) {
      ++refuted_;
      rest.push_back(
          make_finding(to_text(procedure), to_text(level), {*examined.refuted}, {}, seen_orders_));
    } else {
      add(necessary, examined.needed);
      add(alternatives, examined.alternatives);
    }
  }
  if (necessary.empty()) return rest;
  Finding finding = confirm(to_text(procedure), to_text(level), necessary);
  if (!finding.confirmed && !alternatives.empty()) {
    // One of several threads that do the same: the failure needs all of them to come late.
    std::vector<Suspect> all = necessary;
    add(all, alternatives);
    Finding wider = confirm(to_text(procedure), to_text(level), all);
    if (wider.confirmed) finding = std::move(wider);
  }
  finding.forbidden = forbidden;
  return {std::move(finding)};
}

Finding Proof::confirm(const std::string& procedure, const std::string& level,
                       const std::vector<Suspect>& suspects) {
  const std::vector<Suspect> needed = needed_beside(suspects);
  const Experience alone = enforce(suspects, {});
  Experience all = alone;
  if (alone.held < alone.possible || alone.possible == 0) {
    const Experience together = enforce(suspects, needed);
    if (!more_often(alone, together)) all = together;
  }
  Finding finding = make_finding(procedure, level, suspects, needed, tested_orders_);
  finding.enforced = all;
  finding.confirmed = all.held > 0 && 2 * all.held >= all.possible;
  return finding;
}

Experience Proof::enforce(const std::vector<Suspect>& suspects,
                          const std::vector<Suspect>& needed) {
  std::vector<PairPoints> points;
  for (const Suspect& suspect : suspects) points.push_back(suspect.points);
  for (const Suspect& suspect : needed) points.push_back(suspect.points);
  return enforce(points, *suspects.front().origin);
}

Experience Proof::enforce(const std::vector<PairPoints>& points, const Observed& origin) {
  Experience result;
  const std::size_t count =
      std::min(passing_.bases().size(), kMaxForcedOn);  // experiments add to them
  for (std::size_t i = 0; i < count && result.possible < kMaxForced; ++i) {
    const Verdict verdict = experiments_.enforce(points, *passing_.bases()[i], origin);
    if (verdict == Verdict::Impossible) continue;
    ++result.possible;
    if (verdict == Verdict::Holds) ++result.held;
  }
  return result;
}

/// Other pairs of the same threads without which there is no failure either, except those that the
/// suspects imply.
std::vector<Suspect> Proof::needed_beside(const std::vector<Suspect>& suspects) {
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
    if (exhausted() || failed_.instances.size() - i > kMaxBeside) break;
    const PairInstance& instance = failed_.instances[i];
    if (!threads.contains(failed_.accesses.owner(instance.first)) &&
        !threads.contains(failed_.accesses.owner(instance.second))) {
      continue;
    }
    const Suspect other = suspects_.of(instance);
    const bool implied = std::any_of(suspects.begin(), suspects.end(), [&](const Suspect& it) {
      if (it.points == other.points) return true;
      return it.origin == &failed_ &&
             predictable(failed_.accesses, instance, {it.first, it.second});
    });
    if (!implied && forbid(other) == Verdict::Holds) result.push_back(other);
  }
  std::reverse(result.begin(), result.end());
  return result;
}

std::optional<Finding> Proof::by_experiment_alone() {
  std::vector<Suspect> necessary;
  for (std::size_t i = failed_.instances.size(); i-- > 0;) {
    if (exhausted() || failed_.instances.size() - i > kMaxTried) break;
    const Suspect suspect = suspects_.of(failed_.instances[i]);
    if (forbid(suspect) == Verdict::Holds) necessary.push_back(suspect);
  }
  std::reverse(necessary.begin(), necessary.end());
  if (auto finding = confirmed_experiment(necessary)) return finding;
  std::vector<Suspect> missing;
  for (const Suspect& suspect : suspects_.cut_off()) {
    if (!exhausted() && forbid(suspect) == Verdict::Holds) missing.push_back(suspect);
  }
  for (const Suspect& one : missing) {
    std::vector<Suspect> with_one = necessary;
    with_one.push_back(one);
    if (auto finding = confirmed_experiment(with_one)) return finding;
  }
  add(necessary, missing);
  return confirmed_experiment(necessary);
}

std::optional<Finding> Proof::confirmed_experiment(const std::vector<Suspect>& necessary) {
  if (necessary.empty() || exhausted()) return std::nullopt;
  Finding finding = confirm("experiment", to_text(Level::Tid), necessary);
  finding.forbidden = {necessary.size(), necessary.size()};
  if (!finding.confirmed) return std::nullopt;
  return finding;
}

Finding Proof::make_finding(const std::string& procedure, const std::string& level,
                            const std::vector<Suspect>& suspects,
                            const std::vector<Suspect>& needed, SerialOrders& orders) {
  Finding finding;
  finding.procedure = procedure;
  finding.level = level;
  for (const Suspect& suspect : suspects) {
    finding.pairs.push_back(suspects_.found_pair(suspect, true));
  }
  for (const Suspect& suspect : needed) {
    finding.pairs.push_back(suspects_.found_pair(suspect, false));
  }
  classify(finding, failed_, orders);
  return finding;
}

}  // namespace heddle::analysis
