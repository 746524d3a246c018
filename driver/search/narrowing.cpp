// SPDX-License-Identifier: Apache-2.0
#include "driver/search/narrowing.h"

#include <algorithm>
#include <cstring>

namespace heddle::driver {
namespace {

// `shared`, `raced`, `sync`: every how many trials everything is seen. What was taken for local or
// ordered may turn out otherwise.
constexpr std::uint64_t kFullTrialEvery = 8;

// Below that an execution takes less time to do than to undo.
constexpr std::uint64_t kManyEvents = 10'000;

// What an execution may have of events as long as nothing is known of how many there are: to see
// more of it than this costs more than it is worth.
constexpr std::uint64_t kFirstEvents = 400'000;

// The first look, and how seldom looks come at most. Their share of all events stays the same while
// pauses and lengths both double, and falls from then on.
constexpr std::uint64_t kShortestLook = 25'000;
constexpr std::uint64_t kLongestPause = 64;

bool is(const char (&option)[32], const char* value) {
  return std::strcmp(option, value) == 0;
}

/// Their plans name decisions by number, and they learn from events which orders need no trial: to
/// look at less would change both.
bool needs_all(const abi::Options& options) {
  return is(options.strategy, "prefix") || is(options.strategy, "resume");
}

void add_quiet(Trial& trial, abi::SiteId site, bool is_frequent = false) {
  abi::PlanRecord record{};
  record.kind = abi::DecisionKind::Quiet;
  record.site = site;
  record.occurrence = is_frequent ? 1 : 0;
  trial.plan.push_back(record);
}

}  // namespace

Narrowing::Narrowing(const abi::Options& options)
    : automatic_(is(options.preempt_at, "auto")),
      narrows_(automatic_ || is(options.preempt_at, "shared") || is(options.preempt_at, "raced")),
      to_raced_(automatic_ || is(options.preempt_at, "raced")),
      at_sync_(is(options.preempt_at, "sync")),
      // With delayed stores all accesses of an object must be seen, or none.
      may_overlook_((narrows_ || at_sync_) && is(options.memory_model, "sc")),
      max_events_(options.max_events),
      seed_(options.seed),
      length_(std::min(kShortestLook, options.max_events / 4)) {}

void Narrowing::apply(Trial& trial, const Knowledge& knowledge) {
  if ((!narrows_ && !at_sync_) || needs_all(trial.options)) return;
  if (!automatic_) return apply_every_eighth(trial, knowledge);
  if (!may_overlook_) return;
  if (!is_large_) {
    trial.options.max_events = std::min(max_events_, kFirstEvents);
    return;
  }
  overlook(trial);
  if (trial.number >= next_look_) begin_look(trial);
}

void Narrowing::apply_every_eighth(Trial& trial, const Knowledge& knowledge) const {
  if (trial.number % kFullTrialEvery == 1) return;
  if (overlooks()) trial.options.overlook = 1;
  if (!narrows_) return;
  for (const abi::SiteId site : to_raced_ ? races_.quiet_sites() : knowledge.quiet_sites()) {
    add_quiet(trial, site);
  }
}

void Narrowing::overlook(Trial& trial) const {
  trial.options.overlook = 1;
  trial.options.max_events = max_events_;
  for (const abi::SiteId site : races_.quiet_sites()) {
    add_quiet(trial, site, races_.is_frequent(site));
  }
}

/// Somewhere in the execution, elsewhere each time.
void Narrowing::begin_look(Trial& trial) {
  next_look_ = trial.number + pause_;
  trial.options.see_events = length_;
  trial.options.see_from = abi::path_hash(seed_, trial.number) % (events_ + 1);
}

bool Narrowing::learn(const Trial& trial, const Channel& channel) {
  const std::uint64_t events = channel.events().size();
  if (!automatic_) {
    if (trial.options.overlook != 0) return false;
    is_large_ = events >= kManyEvents;
    if (to_raced_) races_.learn(channel);
    return false;
  }
  if (trial.options.overlook == 0) {
    const bool becomes_large = !is_large_ && may_overlook_ && events > kManyEvents;
    is_large_ |= becomes_large;
    if (becomes_large) races_.learn(channel);
    return becomes_large;
  }
  const bool was_new = races_.learn(channel);
  if (is_look(trial)) {
    judge_look(trial.number, was_new);
  } else {
    events_ = events;
  }
  return false;
}

void Narrowing::judge_look(std::uint64_t number, bool was_worth_it) {
  if (was_worth_it) {
    pause_ = 1;
    next_look_ = std::min(next_look_, number + pause_);
  } else {
    pause_ = std::min(2 * pause_, kLongestPause);
    length_ = std::min(2 * length_, max_events_ / 4);
  }
}

bool Narrowing::narrow(Trial& trial, const Channel& channel) {
  if (!automatic_ || !may_overlook_ || needs_all(trial.options)) return false;
  const bool was_new = races_.learn(channel);
  if (trial.options.overlook != 0 && !was_new && !is_look(trial)) return false;
  is_large_ = true;
  std::erase_if(trial.plan, [](const abi::PlanRecord& record) {
    return record.kind == abi::DecisionKind::Quiet;
  });
  trial.options.see_from = trial.options.see_events = 0;
  overlook(trial);
  return true;
}

}  // namespace heddle::driver
