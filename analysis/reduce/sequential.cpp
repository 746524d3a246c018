// SPDX-License-Identifier: Apache-2.0
#include "analysis/reduce/sequential.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "analysis/reduce/common.h"

namespace heddle::analysis {
namespace {

/// So many sequential orders are tried before it is said that none passes.
constexpr std::uint64_t kOrders = 16;
/// So many schedules by chance have to fail before it is said that something is missing.
constexpr std::uint64_t kChances = 16;
/// Of a passing run that is so many times as long as the failing one, one is enough.
constexpr std::uint64_t kLongPassing = 4;

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

std::size_t threads_created(const Attempt& run) {
  const auto& events = run.trace.events;
  return static_cast<std::size_t>(std::count_if(
      events.begin(), events.end(),
      [](const trace::Event& event) { return event.kind == trace::EventKind::ThreadCreate; }));
}

}  // namespace

SequentialCheck::SequentialCheck(ReducingOracle& oracle, std::uint64_t original_events, Count count)
    : oracle_(oracle), original_events_(original_events), count_(std::move(count)) {}

Attempt SequentialCheck::run(const Attempt& attempt, std::uint64_t order) {
  Attempt result = oracle_.run_sequentially(attempt.schedule, order, in_common(attempt, {}));
  count_(result);
  return result;
}

bool SequentialCheck::passes_promptly(Attempt run) {
  for (std::uint64_t i = 0; i < kOrders; ++i) {
    BoundedSchedule promptly{children_first(run)};
    promptly.common = in_common(run, promptly.schedule.decisions);
    std::vector<Attempt> prompt = oracle_.follow_all({&promptly, 1});
    count_(prompt[0]);
    if (!prompt[0].trace.outcome.failed()) return true;
    // A run that failed earlier may not have come to the creation of all threads.
    if (threads_created(prompt[0]) <= threads_created(run)) return false;
    run = std::move(prompt[0]);
  }
  return false;
}

bool SequentialCheck::passes_by_chance(const Attempt& run) {
  for (std::uint64_t seed = 1; seed <= kChances; ++seed) {
    const Attempt attempt = oracle_.wander(run.schedule, seed);
    count_(attempt);
    if (!attempt.trace.outcome.failed()) return true;
  }
  return false;
}

SequentialCheck::Answer SequentialCheck::ask(const Attempt& candidate) {
  if (by_chance_) return passes_by_chance(candidate) ? Answer::Passes : Answer::Fails;
  if (prompt_ == Prompt::Alone) {
    return passes_promptly(run(candidate, 0)) ? Answer::Passes : Answer::Fails;
  }
  if (!order_) return Answer::CannotBeAsked;
  const Attempt sequential = run(candidate, *order_);
  if (sequential.trace.outcome.failed()) {
    in_doubt_ |= !holds_;
    return Answer::Fails;
  }
  const bool is_long = sequential.trace.events.size() > kLongPassing * original_events_;
  if (prompt_ != Prompt::NotAsked && !is_long) {
    if (!passes_promptly(sequential)) {
      in_doubt_ |= prompt_ == Prompt::NotKnown;
      return Answer::Fails;
    }
    prompt_ = Prompt::Passes;
  }
  holds_ = true;
  in_doubt_ = false;
  return Answer::Passes;
}

std::optional<Attempt> SequentialCheck::find_order(const Attempt& best) {
  std::optional<Attempt> failing;
  for (; *order_ < kOrders; ++*order_) {
    Attempt attempt = run(best, *order_);
    if (!attempt.trace.outcome.failed()) {
      holds_ = true;
      return attempt;
    }
    if (!failing) failing = std::move(attempt);
  }
  order_.reset();
  if (failing && passes_promptly(std::move(*failing))) {
    prompt_ = Prompt::Alone;
  } else {
    by_chance_ = passes_by_chance(best);
  }
  return std::nullopt;
}

bool SequentialCheck::revise(const Attempt& best) {
  if (!in_doubt_ || !order_) return false;
  in_doubt_ = false;
  const std::optional<std::uint64_t> used = order_;
  const std::optional<Attempt> passing = find_order(best);
  bool wrong = order_ != used;
  if (passing && prompt_ == Prompt::NotKnown) {
    const bool is_long = passing->trace.events.size() > kLongPassing * original_events_;
    const bool passes = !is_long && passes_promptly(*passing);
    prompt_ = passes ? Prompt::Passes : Prompt::NotAsked;
    wrong |= !passes;
  }
  return wrong;
}

void SequentialCheck::confirm(const Attempt& best, bool passes_undecided) {
  if (!order_ || holds_) return;
  if (passes_undecided && *order_ == 0) {
    holds_ = true;
  } else {
    find_order(best);
  }
}

}  // namespace heddle::analysis
