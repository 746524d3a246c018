// SPDX-License-Identifier: Apache-2.0
//
// Each trial follows a prefix of decisions and goes on without preemption; what it met begins other
// prefixes (bounded_walk.h). A queue for each cost gives CHESS's order without its repetitions.
#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>
#include <utility>

#include "driver/search/bounded_walk.h"

namespace heddle::driver {
namespace {

class BoundedSource final : public TrialSource {
 public:
  BoundedSource(const SearchSettings& settings, Cost cost, std::uint32_t bound)
      : options_(settings.options),
        absent_(settings.absent),
        search_{.cost = cost, .bound = bound} {
    // Flushes of store buffers are operations whose footprints are not known here.
    search_.prune = settings.prune && std::strcmp(options_.memory_model, "sc") == 0;
    std::strcpy(options_.strategy, "prefix");
    search_.frontier.add({});
  }

  std::optional<Trial> next() override {
    for (;;) {
      const std::uint32_t cost = search_.frontier.lowest_cost();
      // A trial under way may still bring prefixes that cost less than any that wait.
      if (cost == Frontier::kNone || lowest_under_way() < cost) return std::nullopt;
      Prefix prefix = search_.frontier.take();
      if (worth_trying(prefix, search_)) return trial_of(std::move(prefix));
    }
  }

  void observe(const Trial& trial, const Channel& channel, const News&) override {
    const auto found = under_way_.find(trial.number);
    const Prefix prefix = std::move(found->second);
    under_way_.erase(found);
    // From there on the session takes turns by itself (runtime/schedule/fair_turns.h).
    if (channel.events().size() >= options_.max_events / 2) search_.incomplete = true;
    learn_from(channel, prefix, trial.plan.size() - absent_.size(), search_);
    if (--at_cost_[prefix.cost] == 0) at_cost_.erase(prefix.cost);
  }

  std::optional<std::uint32_t> exhausted_bound() const override {
    if (search_.incomplete) return std::nullopt;
    const std::uint32_t open =
        std::min(open_bound().value_or(search_.bound + 1), search_.frontier.forgotten_cost());
    if (open == 0) return std::nullopt;
    return open - 1;
  }

  std::optional<std::uint32_t> open_bound() const override {
    const std::uint32_t open = std::min(search_.frontier.lowest_cost(), lowest_under_way());
    if (open > search_.bound) return std::nullopt;
    return open;
  }

  std::uint64_t waiting() const override { return search_.frontier.waiting_at_lowest(); }

 private:
  Trial trial_of(Prefix prefix) {
    Trial trial{++last_, options_, absent_};
    if (const Trail* const trail = prefix.trail.get()) {
      for (std::size_t i = 0; i < prefix.decision; ++i) {
        trial.plan.push_back(trail->answer(i, trail->decisions[i].chosen));
      }
      trial.plan.push_back(trail->answer(prefix.decision, prefix.chosen));
    }
    ++at_cost_[prefix.cost];
    under_way_.emplace(trial.number, std::move(prefix));
    return trial;
  }

  std::uint32_t lowest_under_way() const {
    return at_cost_.empty() ? Frontier::kNone : at_cost_.begin()->first;
  }

  abi::Options options_;
  const std::vector<abi::PlanRecord> absent_;
  BoundedSearch search_;
  std::unordered_map<std::uint64_t, Prefix> under_way_;  // by trial number
  std::map<std::uint32_t, std::uint64_t> at_cost_;       // how many of them with which cost
  std::uint64_t last_ = 0;
};

}  // namespace

std::unique_ptr<TrialSource> make_bounded_source(const SearchSettings& settings, Cost cost,
                                                 std::uint32_t bound) {
  return std::make_unique<BoundedSource>(settings, cost, bound);
}

}  // namespace heddle::driver
