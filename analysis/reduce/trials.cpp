// SPDX-License-Identifier: Apache-2.0
#include "analysis/reduce/trials.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analysis/reduce/projection.h"
#include "base/error.h"
#include "trace/counts.h"

namespace heddle::analysis {
namespace {

/// So many sequential orders are tried before it is said that none passes.
constexpr std::uint64_t kOrders = 16;

/// What the search for fewer preemptions may cost: as many events as the original run has, but
/// enough for an exhaustive search of a small program in any case.
constexpr std::uint64_t kSmallRun = 2'000;
constexpr std::uint64_t kSearchEvents = 400'000;
constexpr std::size_t kFewestGuesses = 8;
constexpr std::size_t kMostGuesses = 48;

/// A trial that is to be better than the best so far has failed long before it is so many times as
/// long; from half of that on threads take turns (runtime/schedule/fair_turns.h).
constexpr std::uint64_t kRoomFactor = 4;
constexpr std::uint64_t kRoom = 2'000;
/// Of a passing run that is so many times as long as the failing one, one is enough.
constexpr std::uint64_t kLongPassing = 4;
constexpr std::uint64_t kSearchExecutions = 20'000;

using Place = std::pair<std::string, std::uint64_t>;

/// Every thread runs as soon as it is created.
trace::Schedule children_first(const Attempt& run) {
  const trace::Trace& trace = run.trace;
  trace::Schedule result = run.schedule;
  result.decisions.clear();
  std::map<std::pair<trace::ThreadId, trace::SiteIndex>, std::uint32_t> visits;
  std::vector<std::uint64_t> child(trace.threads.size(), trace::kNone);  // just created, by thread
  for (const trace::Event& event : trace.events) {
    if (event.kind == trace::EventKind::Flush) continue;
    const std::uint32_t visit = ++visits[{event.thread, event.site}];
    if (child[event.thread] < trace.threads.size() && event.site != trace::kNone) {
      trace::Decision decision;
      decision.thread = trace.threads[event.thread].path;
      decision.site = trace.sites[event.site].key;
      decision.occurrence = visit;
      decision.target = trace.threads[child[event.thread]].path;
      result.decisions.push_back(std::move(decision));
    }
    child[event.thread] = event.kind == trace::EventKind::ThreadCreate ? event.value : trace::kNone;
  }
  return result;
}

}  // namespace

Trials::Trials(ReducingOracle& oracle, const Attempt& original, const ReduceOptions& options,
               Reduction& result)
    : oracle_(oracle),
      original_(original),
      options_(options),
      result_(result),
      signature_(trace::signature(original.trace)) {}

void Trials::count(const Attempt& attempt) {
  ++result_.trials;
  result_.events_executed += attempt.trace.events.size();
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

void Trials::require_failure() {
  const std::vector<Attempt> again = oracle_.follow_all({&original_.schedule, 1});
  count(again[0]);
  if (trace::signature(again[0].trace) == signature_) return;
  throw user_error(
      "the failure does not come back, so it cannot be reduced; see what differs with: "
      "heddle replay");
}

void Trials::find_passing_orders() {
  for (std::uint64_t order = 0; order < kOrders && !stopping(); ++order) {
    const Attempt attempt = oracle_.run_sequentially(original_.schedule, order);
    count(attempt);
    if (attempt.trace.outcome.failed()) continue;
    result_.passing_order = order;
    if (attempt.trace.events.size() > kLongPassing * original_.trace.events.size()) return;
    break;
  }
  if (!result_.passing_order || stopping()) return;
  std::vector<Attempt> prompt = oracle_.follow_all(std::vector{children_first(original_)});
  count(prompt[0]);
  if (!prompt[0].trace.outcome.failed()) children_first_ = std::move(prompt[0]);
}

/// Where (II) cannot be asked: a wait for something that a part left out had to do with is taken
/// for its fault, not for the bug.
bool Trials::starves(const Attempt& attempt, const trace::Schedule& candidate) const {
  if (attempt.trace.outcome.kind != abi::FailureKind::LostWakeup) return false;
  const std::vector<bool> missing = missing_events(original_.trace, left_out_of(candidate));
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

Verdict Trials::criterion(const Attempt& attempt, const trace::Schedule& candidate,
                          bool leaves_out) {
  if (!attempt.trace.outcome.failed()) return Verdict::Passes;
  if (trace::signature(attempt.trace) != signature_) {
    const bool cut_off = attempt.trace.outcome.kind == abi::FailureKind::NoProgress;
    return cut_off ? Verdict::Passes : Verdict::FailsOtherwise;
  }
  if (!leaves_out) return Verdict::Accepted;
  if (!result_.passing_order) {
    return starves(attempt, candidate) ? Verdict::Starves : Verdict::Accepted;
  }
  const Attempt sequential = oracle_.run_sequentially(candidate, *result_.passing_order);
  count(sequential);
  if (sequential.trace.outcome.failed()) return Verdict::FailsSequentially;
  if (!children_first_) return Verdict::Accepted;
  const std::vector<Attempt> prompt =
      oracle_.follow_all(std::vector{project(*children_first_, left_out_of(candidate))});
  count(prompt[0]);
  return prompt[0].trace.outcome.failed() ? Verdict::FailsSequentially : Verdict::Accepted;
}

std::vector<Judged> Trials::judge(std::span<const trace::Schedule> candidates, bool leaves_out) {
  std::vector<Judged> judged;
  while (judged.size() < candidates.size() && !stopping()) {
    const auto batch = candidates.subspan(
        judged.size(),
        std::min<std::size_t>(oracle_.parallel(), candidates.size() - judged.size()));
    std::vector<Attempt> attempts = oracle_.follow_all(batch, room());
    for (const Attempt& attempt : attempts) count(attempt);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const Verdict verdict = criterion(attempts[i], batch[i], leaves_out);
      judged.push_back({verdict, std::move(attempts[i])});
      if (verdict == Verdict::Accepted) return judged;
    }
  }
  judged.resize(candidates.size());
  return judged;
}

std::vector<Judged> Trials::judge(std::span<const trace::Schedule> candidates) {
  return judge(candidates, true);
}

std::vector<Judged> Trials::judge_schedules(std::span<const trace::Schedule> candidates) {
  return judge(candidates, false);
}

std::uint64_t Trials::room() const {
  if (original_.trace.outcome.kind == abi::FailureKind::NoProgress) return ReducingOracle::kAll;
  return kRoomFactor * result_.best.trace.events.size() + kRoom;
}

std::size_t Trials::affordable(const Attempt& run) const {
  const std::size_t events = std::max<std::size_t>(1, run.trace.events.size());
  return std::clamp(original_.trace.events.size() / events, kFewestGuesses, kMostGuesses);
}

SearchResult Trials::search_below(const Attempt& run) {
  const std::uint64_t preemptions = trace::preemptions(run.schedule);
  if (preemptions == 0 || stopping()) return {};
  SearchRequest request;
  request.signature = signature_;
  request.most_preemptions = static_cast<std::uint32_t>(preemptions - 1);
  request.most_executions = kSearchExecutions;
  const std::uint64_t events = original_.trace.events.size();
  request.most_events = events <= kSmallRun ? kSearchEvents : events;
  request.stop = [this] { return stopping(); };
  SearchResult found = oracle_.search(run.schedule, request);
  result_.trials += found.executions;
  result_.events_executed += found.events;
  return found;
}

}  // namespace heddle::analysis
