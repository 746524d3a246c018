// SPDX-License-Identifier: Apache-2.0
#include "analysis/reduce/trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "analysis/reduce/common.h"
#include "analysis/reduce/projection.h"
#include "trace/counts.h"

namespace heddle::analysis {
namespace {

/// What the search for fewer preemptions may cost: as many events as the original run has, but
/// enough for an exhaustive search of a small program in any case.
constexpr std::uint64_t kSmallRun = 2'000;
constexpr std::uint64_t kSearchEvents = 400'000;
constexpr std::size_t kFewestGuesses = 8;
constexpr std::size_t kMostGuesses = 48;

/// A trial that does what it is meant to has failed long before this.
constexpr std::uint64_t kRoom = 64;
constexpr std::uint64_t with_room(std::uint64_t events) {
  return events + events / 2 + kRoom;
}

constexpr std::uint64_t kSearchExecutions = 20'000;
/// What has to be tried does not get less with the run: a shorter one may cost many times itself.
constexpr std::uint64_t kShortRun = 500;
/// Most failures that a search finds at all it finds in about five schedules (bench/run search).
constexpr std::uint64_t kAFewSchedules = 40;

using Place = std::pair<std::string, std::uint64_t>;

}  // namespace

std::string key_of(const trace::Schedule& schedule) {
  std::string key = schedule.ends_with + '\n';
  const std::set<std::string> absent(schedule.absent_threads.begin(),
                                     schedule.absent_threads.end());
  for (const std::string& thread : absent) key += thread + '\n';
  for (const trace::SkippedIterations& skip : schedule.skipped) {
    key += fmt::format("{} {} {}-{} {} {}\n", skip.thread, skip.site, skip.first, skip.last,
                       skip.creates, skip.at_once);
  }
  for (const std::string& site : schedule.overlooked) key += "overlook " + site + '\n';
  for (const trace::Decision& decision : schedule.decisions) {
    key += fmt::format("{} {} {} {} {}/{}\n", decision.thread, decision.site, decision.occurrence,
                       decision.target, decision.value, decision.bound);
  }
  return key;
}

Trials::Trials(ReducingOracle& oracle, const Attempt& original, const ReduceOptions& options,
               Reduction& result)
    : oracle_(oracle),
      original_(original),
      options_(options),
      result_(result),
      signature_(trace::signature(original.trace)),
      sequential_(oracle, original.trace.events.size(),
                  [this](const Attempt& attempt) { count(attempt); }) {}

void Trials::count(const Attempt& attempt) {
  ++result_.trials;
  result_.events_executed += events_executed(attempt);
}

bool Trials::stopping() {
  if (options_.stop && options_.stop()) result_.stopped = true;
  return result_.stopped;
}

void Trials::report(const char* phase, const Attempt& best) {
  if (options_.progress) {
    options_.progress({phase, result_.rounds, result_.trials, size_of(best)});
  }
}

bool Trials::revise(const Attempt& best) {
  if (stopping() || !sequential_.revise(best)) return false;
  turned_down_.clear();
  return true;
}

void Trials::confirm(const Attempt& best) {
  trace::Schedule undecided = best.schedule;
  undecided.decisions.clear();
  if (!stopping()) sequential_.confirm(best, pass_undecided_.contains(key_of(undecided)));
  result_.passing_order = sequential_.order();
  result_.passes_promptly = sequential_.promptly_alone();
  result_.passes_by_chance = sequential_.by_chance_alone();
}

/// Where (II) cannot be asked: a wait for something that a part left out had to do with is taken
/// for its fault, not for the bug.
bool Trials::starves(const Attempt& attempt) const {
  if (attempt.trace.outcome.kind != abi::FailureKind::LostWakeup) return false;
  const std::vector<bool> missing = missing_events(original_.trace, left_out_of(attempt.schedule));
  std::set<Place> touched;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    const trace::Event& event = original_.trace.events[i];
    if (missing[i] && event.object != trace::kNone) {
      touched.emplace(original_.trace.objects[event.object].name, event.offset);
    }
  }
  const auto& waits = attempt.trace.outcome.waits;
  return std::any_of(waits.begin(), waits.end(), [&](const trace::Wait& wait) {
    return wait.object != trace::kNone &&
           touched.contains({attempt.trace.objects[wait.object].name, wait.offset});
  });
}

Verdict Trials::same_failure(const Attempt& attempt) const {
  if (!attempt.trace.outcome.failed()) return Verdict::Passes;
  if (trace::signature(attempt.trace) == signature_) return Verdict::Accepted;
  const bool cut_off = attempt.trace.outcome.kind == abi::FailureKind::NoProgress;
  return cut_off ? Verdict::Passes : Verdict::FailsOtherwise;
}

Verdict Trials::in_sequence(const Attempt& attempt) {
  switch (sequential_.ask(attempt)) {
    case SequentialCheck::Answer::Passes: return Verdict::Accepted;
    case SequentialCheck::Answer::Fails: return Verdict::FailsSequentially;
    case SequentialCheck::Answer::CannotBeAsked: break;
  }
  return starves(attempt) ? Verdict::Starves : Verdict::Accepted;
}

bool Trials::is_concurrent(const Attempt& attempt) {
  return in_sequence(attempt) == Verdict::Accepted;
}

std::vector<Judged> Trials::judge(std::span<const BoundedSchedule> candidates, bool both) {
  std::vector<Judged> judged;
  while (judged.size() < candidates.size() && !stopping()) {
    const std::string key = key_of(candidates[judged.size()].schedule);
    const auto known = other_outcome_.find(key);
    const auto missed = both ? turned_down_.find(key) : turned_down_.end();
    if (known != other_outcome_.end() || missed != turned_down_.end()) {
      judged.push_back(known != other_outcome_.end() ? known->second : missed->second);
      continue;
    }
    const auto batch = candidates.subspan(
        judged.size(),
        std::min<std::size_t>(oracle_.parallel(), candidates.size() - judged.size()));
    std::vector<Attempt> attempts = oracle_.follow_all(batch);
    for (const Attempt& attempt : attempts) count(attempt);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const Verdict failure = same_failure(attempts[i]);
      const bool asks = both && failure == Verdict::Accepted;
      const Verdict verdict = asks ? in_sequence(attempts[i]) : failure;
      judged.push_back({verdict, trace::signature(attempts[i].trace), attempts[i].number, {}});
      if (verdict == Verdict::Accepted) {
        judged.back().attempt = std::move(attempts[i]);
        return judged;
      }
      const std::string judged_key = key_of(batch[i].schedule);
      const bool passes = !attempts[i].trace.outcome.failed();
      if (passes && batch[i].schedule.decisions.empty()) pass_undecided_.insert(judged_key);
      (asks ? turned_down_ : other_outcome_).emplace(judged_key, judged.back());
    }
  }
  judged.resize(candidates.size());
  return judged;
}

std::vector<Judged> Trials::judge(std::span<const BoundedSchedule> candidates) {
  return judge(candidates, true);
}

std::vector<Judged> Trials::judge_failure(std::span<const BoundedSchedule> candidates) {
  return judge(candidates, false);
}

BoundedSchedule Trials::bounded(trace::Schedule schedule, std::uint64_t events,
                                const Common& common) const {
  const bool ends = original_.trace.outcome.kind != abi::FailureKind::NoProgress;
  return {std::move(schedule), ends ? with_room(events) : BoundedSchedule::kAll, common};
}

std::size_t Trials::affordable(const Attempt& run) const {
  const std::size_t events = std::max<std::size_t>(1, run.trace.events.size());
  return std::clamp(original_.trace.events.size() / events, kFewestGuesses, kMostGuesses);
}

std::uint64_t Trials::may_be_in_vain() const {
  if (options_.all_iterations) return ~std::uint64_t{0};
  return std::max(size_of(original_).events, kSmallRun) / 2;
}

std::uint64_t Trials::worth_searching(std::uint64_t searched) const {
  const auto rest = [](std::uint64_t of, std::uint64_t spent) { return of - std::min(of, spent); };
  const std::uint64_t events = size_of(original_).events;
  if (events < kShortRun || options_.all_iterations) return rest(kSearchEvents / 4, searched);
  // Of a whole that is to cost no more than four such runs: the rest reduces what is found.
  return std::min(rest(events / 2, searched), rest(7 * events / 2, result_.events_executed));
}

std::optional<Attempt> Trials::search_any(const trace::Schedule& schedule, const Common& alone,
                                          std::uint64_t most_events) {
  SearchRequest request;
  request.among = SearchRequest::Among::Any;
  request.signature = signature_;
  request.most_executions = kAFewSchedules;
  request.most_events = most_events;
  request.alone = alone;
  request.stop = [this] { return stopping(); };
  SearchResult found = oracle_.search(schedule, request);
  result_.trials += found.executions;
  result_.events_executed += found.events;
  if (!found.found || !is_concurrent(*found.found)) return std::nullopt;
  return std::move(found.found);
}

SearchResult Trials::search_below(const Attempt& run) {
  const std::uint64_t preemptions = trace::preemptions(run.schedule);
  if (preemptions == 0 || stopping()) return {};
  trace::Schedule undecided = run.schedule;
  undecided.decisions.clear();
  const std::string key = fmt::format("{}{}", key_of(undecided), preemptions);
  if (key == nothing_below_) {
    SearchResult known;
    known.complete = true;
    return known;
  }
  SearchRequest request;
  request.signature = signature_;
  request.most_preemptions = static_cast<std::uint32_t>(preemptions - 1);
  request.most_executions = kSearchExecutions;
  const std::uint64_t events = original_.trace.events.size();
  request.most_events = events <= kSmallRun ? kSearchEvents : events;
  // Other schedules may depend on what the run overlooks, and prune by what conflicts.
  trace::Schedule seen = run.schedule;
  seen.overlooked.clear();
  if (run.schedule.overlooked.empty()) request.alone = {run.number, events_alone(run.trace)};
  request.stop = [this] { return stopping(); };
  SearchResult found = oracle_.search(seen, request);
  result_.trials += found.executions;
  result_.events_executed += found.events;
  result_.proof.trials += found.executions;
  result_.proof.events_executed += found.events;
  if (found.complete && !found.found) nothing_below_ = key;
  return found;
}

}  // namespace heddle::analysis
