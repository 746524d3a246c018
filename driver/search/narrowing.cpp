// SPDX-License-Identifier: Apache-2.0
#include "driver/search/narrowing.h"

#include <cstring>

namespace heddle::driver {
namespace {

// Every how many trials everything is seen: what was taken for local or ordered may turn out
// otherwise.
constexpr std::uint64_t kFullTrialEvery = 8;

// Below that an execution takes less time to do than to undo.
constexpr std::uint64_t kManyEvents = 10'000;

bool is(const char (&option)[32], const char* value) {
  return std::strcmp(option, value) == 0;
}

/// Their plans name decisions by number, and they learn from events which orders need no trial: to
/// look at less would change both.
bool needs_all(const abi::Options& options) {
  return is(options.strategy, "prefix") || is(options.strategy, "resume");
}

}  // namespace

Narrowing::Narrowing(const abi::Options& options)
    : narrows_(is(options.preempt_at, "shared") || is(options.preempt_at, "raced")),
      to_raced_(is(options.preempt_at, "raced")),
      at_sync_(is(options.preempt_at, "sync")),
      // With delayed stores all accesses of an object must be seen, or none.
      may_overlook_((narrows_ || at_sync_) && is(options.memory_model, "sc")) {}

void Narrowing::apply(Trial& trial, const Knowledge& knowledge) const {
  if (!narrows_ && !at_sync_) return;
  if (needs_all(trial.options) || trial.number % kFullTrialEvery == 1) return;
  if (may_overlook_ && events_ >= kManyEvents) trial.options.overlook = 1;
  if (!narrows_) return;
  for (const abi::SiteId site : to_raced_ ? races_.quiet_sites() : knowledge.quiet_sites()) {
    abi::PlanRecord record{};
    record.kind = abi::DecisionKind::Quiet;
    record.site = site;
    trial.plan.push_back(record);
  }
}

void Narrowing::learn(const Trial& trial, const Channel& channel) {
  if (trial.options.overlook != 0) return;
  events_ = channel.events().size();
  if (to_raced_) races_.learn(channel);
}

}  // namespace heddle::driver
