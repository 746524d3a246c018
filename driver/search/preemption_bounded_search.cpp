// SPDX-License-Identifier: Apache-2.0
//
// Each trial follows a prefix of decisions and goes on without preemption; every decision it then
// met was the default, and each alternative to one of them begins a prefix of its own. So every
// schedule is tried exactly once, and a queue for each number of preemptions gives CHESS's order
// without its repetitions.
#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "driver/search/search.h"

namespace heddle::driver {
namespace {

using Decisions = std::vector<abi::PlanRecord>;

/// The first `shared` decisions of an earlier trial, then another answer.
struct Prefix {
  std::shared_ptr<const Decisions> parent;
  std::size_t shared = 0;
  abi::PlanRecord last{};
};

class PreemptionBoundedSearch final : public Search {
 public:
  PreemptionBoundedSearch(const abi::Options& options, std::vector<abi::PlanRecord> absent,
                          std::uint32_t max_preemptions)
      : options_(options), absent_(std::move(absent)), max_preemptions_(max_preemptions) {
    std::strcpy(options_.strategy, "prefix");
    waiting_[0].push_back({});
  }

  std::optional<Trial> next() override {
    std::unique_lock lock(mutex_);
    // A trial under way may still bring prefixes with fewer preemptions than any that wait.
    changed_.wait(lock, [this] { return lowest_is_final() || nothing_left(); });
    if (nothing_left()) return std::nullopt;
    auto& queue = waiting_.begin()->second;
    const std::uint32_t preemptions = waiting_.begin()->first;
    const Prefix prefix = queue.front();
    queue.pop_front();
    if (queue.empty()) waiting_.erase(waiting_.begin());

    Trial trial{++last_, options_, absent_};
    if (prefix.parent) {
      trial.plan.insert(trial.plan.end(), prefix.parent->begin(),
                        prefix.parent->begin() + static_cast<std::ptrdiff_t>(prefix.shared));
      trial.plan.push_back(prefix.last);
    }
    under_way_.emplace(trial.number, preemptions);
    ++at_bound_[preemptions];
    return trial;
  }

  void observe(const Trial& trial, const Channel& channel) override {
    const std::scoped_lock lock(mutex_);
    const auto found = under_way_.find(trial.number);
    const std::uint32_t preemptions = found->second;
    add_alternatives(trial, channel, preemptions);
    under_way_.erase(found);
    if (--at_bound_[preemptions] == 0) at_bound_.erase(preemptions);
    changed_.notify_all();
  }

  std::optional<std::uint32_t> exhausted_bound() const override {
    const std::scoped_lock lock(mutex_);
    std::uint32_t open = max_preemptions_ + 1;
    if (!waiting_.empty()) open = std::min(open, waiting_.begin()->first);
    if (!at_bound_.empty()) open = std::min(open, at_bound_.begin()->first);
    if (open == 0) return std::nullopt;
    return open - 1;
  }

 private:
  bool nothing_left() const { return waiting_.empty() && under_way_.empty(); }
  bool lowest_is_final() const {
    return !waiting_.empty() &&
           (at_bound_.empty() || waiting_.begin()->first <= at_bound_.begin()->first);
  }

  void add_alternatives(const Trial& trial, const Channel& channel, std::uint32_t preemptions) {
    const auto records = channel.decisions();
    const auto threads = channel.threads();
    auto decisions = std::make_shared<Decisions>();
    decisions->reserve(records.size());
    for (const abi::DecisionRecord& record : records) {
      decisions->push_back(answer(record, record.chosen, threads));
    }
    for (std::size_t i = trial.plan.size() - absent_.size(); i < records.size(); ++i) {
      const abi::DecisionRecord& record = records[i];
      const bool is_value = record.kind == abi::DecisionKind::Value;
      // Before position i this trial took its defaults, which preempt nobody.
      const std::uint32_t cost = preemptions + (!is_value && record.could_continue != 0 ? 1 : 0);
      if (cost > max_preemptions_) continue;
      const std::uint32_t answers = is_value ? record.bound : 64;
      for (std::uint32_t other = 0; other < answers; ++other) {
        if (other == record.chosen) continue;
        if (!is_value && ((record.enabled >> other) & 1) == 0) continue;
        waiting_[cost].push_back({decisions, i, answer(record, other, threads)});
      }
    }
  }

  static abi::PlanRecord answer(const abi::DecisionRecord& record, std::uint32_t chosen,
                                std::span<const abi::ThreadRecord> threads) {
    abi::PlanRecord plan{};
    plan.kind = record.kind;
    plan.target = record.kind == abi::DecisionKind::Value ? chosen
                  : chosen < threads.size()               ? threads[chosen].hash
                                                          : 0;
    return plan;
  }

  abi::Options options_;
  const std::vector<abi::PlanRecord> absent_;
  const std::uint32_t max_preemptions_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint32_t, std::deque<Prefix>> waiting_;         // by preemptions; no queue is empty
  std::unordered_map<std::uint64_t, std::uint32_t> under_way_;  // trial number → preemptions
  std::map<std::uint32_t, std::uint64_t> at_bound_;             // how many of them with how many
  std::uint64_t last_ = 0;
};

}  // namespace

std::unique_ptr<Search> make_preemption_bounded_search(const abi::Options& options,
                                                       std::vector<abi::PlanRecord> absent,
                                                       std::uint32_t max_preemptions) {
  return std::make_unique<PreemptionBoundedSearch>(options, std::move(absent), max_preemptions);
}

}  // namespace heddle::driver
