// SPDX-License-Identifier: Apache-2.0
#include "analysis/localise/passing_runs.h"

#include <algorithm>
#include <utility>

namespace heddle::analysis {
namespace {

constexpr std::size_t kMaxBases = 32;
/// More executions as a whole than these are kept only if they show something new.
constexpr std::size_t kFewBases = 4;
/// Of all that are kept as a whole beyond those few: what bounds the memory of long runs.
constexpr std::size_t kMaxBaseEvents = 2'000'000;
constexpr std::size_t kMaxFlips = 60;
/// So many passing runs in a row without a new pair: there are hardly any left.
constexpr std::uint64_t kSaturation = 40;

/// How many events from the start two executions have in common.
std::size_t common_prefix(const trace::Trace& x, const trace::Trace& y) {
  const auto same = [&](const trace::Event& a, const trace::Event& b) {
    const auto site = [](const trace::Trace& trace, const trace::Event& event) {
      return event.site == trace::kNone ? std::string() : trace.sites[event.site].key;
    };
    return a.kind == b.kind && x.threads[a.thread].path == y.threads[b.thread].path &&
           site(x, a) == site(y, b);
  };
  const std::size_t length = std::min(x.events.size(), y.events.size());
  std::size_t i = 0;
  while (i < length && same(x.events[i], y.events[i])) ++i;
  return i;
}

}  // namespace

PassingRuns::PassingRuns(SteeringOracle& oracle, const Observed& failed, PairTable& table,
                         const LocaliseOptions& options)
    : oracle_(oracle),
      failed_(failed),
      table_(table),
      options_(options),
      signature_(trace::signature(failed.attempt.trace)) {}

bool PassingRuns::stopping() const {
  return pairs_.size() >= options_.max_passing || (options_.stop && options_.stop());
}

void PassingRuns::take(Attempt attempt) {
  ++executions_;
  if (attempt.trace.outcome.failed()) {
    std::string signature = trace::signature(attempt.trace);
    if (signature != signature_) ++other_failures_[std::move(signature)];
    return;
  }
  auto run = std::make_unique<Observed>(std::move(attempt));
  pairs_.push_back(collect_pairs(run->accesses, run->instances, table_));
  if (options_.falcon) {
    for (const auto& [pattern, events] : falcon_patterns(run->accesses)) ++patterns_[pattern];
  }
  const std::size_t before = known_.size();
  for (const SeenPair& pair : pairs_.back().seen) known_.insert(pair.id);
  curve_.push_back(known_.size());
  without_news_ = known_.size() > before ? 0 : without_news_ + 1;
  const std::size_t common = common_prefix(failed_.attempt.trace, run->attempt.trace);
  if (!nearest_ || common > common_events_) {
    nearest_ = run->attempt;
    common_events_ = common;
  }
  // Executions that do not show the same are the better ground for experiments.
  const bool is_new = known_.size() > before;
  const bool has_room =
      bases_.size() < kMaxBases && base_events_ + run->attempt.trace.events.size() < kMaxBaseEvents;
  if (bases_.size() < kFewBases || (is_new && has_room)) {
    base_events_ += run->attempt.trace.events.size();
    bases_.push_back(std::move(run));
  }
}

void PassingRuns::make() {
  for (const Attempt& given : options_.given) {
    // Executed once more, it tells of its loops too. What does not come back counts as it was kept.
    Attempt again = oracle_.follow(given.schedule);
    if (again.trace.outcome.failed()) {
      take(given);
    } else {
      take(std::move(again));
    }
  }
  near();
  by_chance(options_.max_passing - options_.max_passing / 4, "passing runs",
            [&](std::uint64_t seed) { return oracle_.wander(failed_.attempt.schedule, seed); });
  const bool saturated = saturated_;
  saturated_ = false;
  without_news_ = 0;
  by_chance(options_.max_passing, "with random delays",
            [&](std::uint64_t seed) { return oracle_.delay(failed_.attempt.schedule, seed); });
  saturated_ = saturated_ && saturated;
}

void PassingRuns::near() {
  trace::Schedule sequential = failed_.attempt.schedule;
  sequential.decisions.clear();
  take(oracle_.follow(sequential));
  const std::vector<trace::Decision>& decisions = failed_.attempt.schedule.decisions;
  for (std::size_t flips = 0; flips < std::min(decisions.size(), kMaxFlips); ++flips) {
    if (stopping()) return;
    if (options_.progress) options_.progress("near the failing schedule", executions_);
    const std::size_t i = decisions.size() - 1 - flips;
    trace::Schedule flipped = failed_.attempt.schedule;
    trace::Decision& decision = flipped.decisions[i];
    if (decision.kind == abi::DecisionKind::Value && decision.bound > 1) {
      decision.value = (decision.value + 1) % decision.bound;
    } else {
      flipped.decisions.erase(flipped.decisions.begin() + static_cast<std::ptrdiff_t>(i));
    }
    take(oracle_.follow(flipped));
  }
}

/// Executions until they show nothing new, or there are `most` passing runs.
void PassingRuns::by_chance(std::uint64_t most, std::string_view phase,
                            const std::function<Attempt(std::uint64_t seed)>& execute) {
  const std::uint64_t limit = executions_ + 2 * options_.max_passing;
  for (std::uint64_t seed = 1; executions_ < limit && pairs_.size() < most && !stopping(); ++seed) {
    if (options_.progress) options_.progress(phase, executions_);
    take(execute(seed));
    if (!pairs_.empty() && without_news_ >= kSaturation) {
      saturated_ = true;
      return;
    }
  }
}

std::uint64_t PassingRuns::with_pattern(const Pattern& pattern) const {
  const auto found = patterns_.find(pattern);
  return found == patterns_.end() ? 0 : found->second;
}

void PassingRuns::report(Localisation& result) const {
  result.passing_runs = pairs_.size();
  result.executions = executions_;
  result.curve = curve_;
  result.saturated = saturated_;
  result.other_failures = other_failures_;
  result.nearest = nearest_;
  result.common_events = common_events_;
}

}  // namespace heddle::analysis
