// SPDX-License-Identifier: Apache-2.0
//
// Each trial follows a prefix of decisions and goes on without preemption; every decision it then
// met was the default, and each alternative to one of them begins a prefix of its own. A queue for
// each cost gives CHESS's order without its repetitions.
//
// Three things leave out schedules that differ from a tried one of no higher cost only in the order
// of independent operations (docs/decisions/0006-pruning-within-a-bound.md says why each is safe):
//   states    a state (happens_before.h) reached again, with the same choice, no fewer preemptions
//             and no fewer threads asleep, is not gone on from;
//   sleep     behind a preemption of t before its operation a, schedules are redundant in which t
//             does a before anything depending on it has happened (sleep sets, Godefroid 1996,
//             restricted to the preempted thread: waking up any other could cost a preemption);
//   deferral  nobody is preempted before an operation on something no other thread uses; should one
//             be seen to, the preemption is made up for.
#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>

#include "driver/search/contention.h"
#include "driver/search/happens_before.h"
#include "driver/search/trial_source.h"

namespace heddle::driver {
namespace {

using Decisions = std::vector<abi::PlanRecord>;

/// A preempted thread and what it was about to do.
struct Asleep {
  std::uint64_t thread;
  Footprint operation;
};
using Sleep = std::vector<Asleep>;

/// The first `shared` decisions of an earlier trial, then another answer.
struct Prefix {
  std::shared_ptr<const Decisions> parent;
  std::size_t shared = 0;
  abi::PlanRecord last{};
  std::uint32_t cost = 0;
  Sleep sleep;
};

struct Deferred {
  Prefix prefix;
  std::uint64_t thread;  // that would be preempted
  Footprint operation;
};

constexpr std::size_t kMostStates = 4 << 20;

class BoundedSource final : public TrialSource {
 public:
  BoundedSource(const SearchSettings& settings, Cost cost, std::uint32_t bound)
      : options_(settings.options), absent_(settings.absent), cost_(cost), bound_(bound) {
    // Flushes of store buffers are operations whose footprints are not known here.
    prune_ = settings.prune && std::strcmp(options_.memory_model, "sc") == 0;
    std::strcpy(options_.strategy, "prefix");
    waiting_[0].push_back({});
  }

  std::optional<Trial> next() override {
    // A trial under way may still bring prefixes that cost less than any that wait.
    if (waiting_.empty()) return std::nullopt;
    if (!at_cost_.empty() && at_cost_.begin()->first < waiting_.begin()->first) return std::nullopt;
    auto& queue = waiting_.begin()->second;
    Prefix prefix = std::move(queue.front());
    queue.pop_front();
    if (queue.empty()) waiting_.erase(waiting_.begin());

    Trial trial{++last_, options_, absent_};
    if (prefix.parent) {
      trial.plan.insert(trial.plan.end(), prefix.parent->begin(),
                        prefix.parent->begin() + static_cast<std::ptrdiff_t>(prefix.shared));
      trial.plan.push_back(prefix.last);
    }
    ++at_cost_[prefix.cost];
    under_way_.emplace(trial.number, std::move(prefix));
    return trial;
  }

  void observe(const Trial& trial, const Channel& channel, const News&) override {
    const auto found = under_way_.find(trial.number);
    const Prefix prefix = std::move(found->second);
    under_way_.erase(found);
    // From there on the session takes turns by itself (runtime/schedule/fair_turns.h).
    if (channel.events().size() >= options_.max_events / 2) incomplete_ = true;
    Walk walk(*this, channel, prefix);
    walk.run(trial.plan.size() - absent_.size());
    if (--at_cost_[prefix.cost] == 0) at_cost_.erase(prefix.cost);
  }

  std::optional<std::uint32_t> exhausted_bound() const override {
    if (incomplete_) return std::nullopt;
    const std::uint32_t open = open_bound().value_or(bound_ + 1);
    if (open == 0) return std::nullopt;
    return open - 1;
  }

  std::optional<std::uint32_t> open_bound() const override {
    std::uint32_t open = bound_ + 1;
    if (!waiting_.empty()) open = std::min(open, waiting_.begin()->first);
    if (!at_cost_.empty()) open = std::min(open, at_cost_.begin()->first);
    if (open > bound_) return std::nullopt;
    return open;
  }

  std::uint64_t waiting() const override {
    return waiting_.empty() ? 0 : waiting_.begin()->second.size();
  }

 private:
  /// What is to be learned from one trial.
  class Walk {
   public:
    Walk(BoundedSource& source, const Channel& channel, const Prefix& prefix)
        : source_(source),
          events_(channel.events()),
          decisions_(channel.decisions()),
          threads_(channel.threads()),
          cost_(prefix.cost),
          sleep_(prefix.sleep) {
      auto answers = std::make_shared<Decisions>();
      answers->reserve(decisions_.size());
      for (const abi::DecisionRecord& record : decisions_) {
        answers->push_back(answer(record, record.chosen));
      }
      answers_ = std::move(answers);
      if (!source_.prune_) return;
      const Footprints footprints(channel);
      footprints_.reserve(events_.size());
      last_event_.assign(threads_.size(), 0);
      bool changed = false;
      for (std::size_t i = 0; i < events_.size(); ++i) {
        const abi::EventRecord& event = events_[i];
        footprints_.push_back(footprints.of(event));
        changed |= source_.contention_.note(footprints_.back(), thread_hash(event.thread));
        if (event.thread < last_event_.size()) last_event_[event.thread] = i;
      }
      if (changed) source_.release_deferred();
      states_ = states_before_decisions(channel, footprints_);
    }

    void run(std::size_t planned) {
      std::size_t event = planned == 0                  ? 0
                          : decisions_.size() < planned ? events_.size()
                                                        : decisions_[planned - 1].event;
      for (std::size_t i = planned; i < decisions_.size(); ++i) {
        const abi::DecisionRecord& record = decisions_[i];
        if (source_.prune_) {
          for (; event < record.event && event < events_.size(); ++event) {
            if (!pass(event)) return;
          }
          if (record.kind == abi::DecisionKind::Thread && record.could_continue == 0) wake_sync();
        }
        // The default may be known while an alternative is not: they cost different thread
        // switches.
        const bool known = source_.prune_ && source_.visited(key(i, record.chosen), cost_, sleep_);
        add_alternatives(i);
        if (known) return;
      }
    }

   private:
    std::uint64_t thread_hash(std::uint32_t index) const {
      return index < threads_.size() ? threads_[index].hash : 0;
    }

    abi::PlanRecord answer(const abi::DecisionRecord& record, std::uint32_t chosen) const {
      abi::PlanRecord plan{};
      plan.kind = record.kind;
      plan.target = record.kind == abi::DecisionKind::Value ? chosen : thread_hash(chosen);
      return plan;
    }

    std::uint64_t key(std::size_t decision, std::uint32_t chosen) const {
      const abi::DecisionRecord& record = decisions_[decision];
      const bool is_value = record.kind == abi::DecisionKind::Value;
      const std::uint64_t choice =
          is_value ? abi::path_hash(thread_hash(record.thread), chosen + 1) : thread_hash(chosen);
      return abi::path_hash(states_[decision], choice);
    }

    bool asleep(std::uint64_t thread) const {
      return std::any_of(sleep_.begin(), sleep_.end(),
                         [&](const Asleep& entry) { return entry.thread == thread; });
    }

    /// Whoever switched away because it could not go on might have been able to, had a thread that
    /// sleeps before an operation of synchronisation done it.
    void wake_sync() {
      std::erase_if(sleep_, [](const Asleep& entry) { return entry.operation.synchronises(); });
    }

    /// False when what follows is redundant: a thread that sleeps does its operation.
    bool pass(std::size_t event) {
      const abi::EventRecord& done = events_[event];
      if (sleep_.empty()) return true;
      if (asleep(thread_hash(done.thread))) return false;
      if (event > 0 && events_[event - 1].thread != done.thread && !decided(event)) wake_sync();
      std::erase_if(sleep_, [&](const Asleep& entry) {
        return dependent(entry.operation, footprints_[event]);
      });
      return true;
    }

    bool decided(std::size_t event) const {
      const auto at = std::lower_bound(
          decisions_.begin(), decisions_.end(), event,
          [](const abi::DecisionRecord& record, std::size_t e) { return record.event < e; });
      return at != decisions_.end() && at->event == event &&
             at->kind == abi::DecisionKind::Thread && at->could_continue != 0;
    }

    /// The cost of answering `other` instead of the default.
    std::uint32_t extra_cost(const abi::DecisionRecord& record, std::uint32_t other) const {
      if (record.kind == abi::DecisionKind::Value) return 0;
      if (source_.cost_ == Cost::Preemptions) return record.could_continue != 0 ? 1 : 0;
      // How many threads are passed over, in a circle that begins with the default.
      std::uint32_t passed = 0;
      for (std::uint32_t i = record.chosen; i != other; i = (i + 1) % 64) {
        passed += (record.enabled >> i) & 1;
      }
      return passed;
    }

    void add_alternatives(std::size_t i) {
      const abi::DecisionRecord& record = decisions_[i];
      const bool is_value = record.kind == abi::DecisionKind::Value;
      if (!is_value && std::popcount(record.enabled) != static_cast<int>(record.bound)) {
        source_.incomplete_ = true;  // threads from the 65th on are not in the set
      }
      // The thread that would be preempted, if what it does next is known to be reorderable.
      const bool preempts = !is_value && record.could_continue != 0 &&
                            record.chosen == record.thread && source_.prune_ &&
                            source_.cost_ == Cost::Preemptions && record.event < events_.size() &&
                            !ends_unseen(record.event);
      Sleep sleep = sleep_;
      if (preempts) {
        const Footprint& operation = footprints_[record.event];
        if (independent_of_all(events_[record.event].kind, operation)) return;
        sleep.push_back({thread_hash(record.thread), operation});
      }
      const std::uint32_t answers = is_value ? record.bound : 64;
      for (std::uint32_t other = 0; other < answers; ++other) {
        if (other == record.chosen) continue;
        if (!is_value && ((record.enabled >> other) & 1) == 0) continue;
        const std::uint32_t cost = cost_ + extra_cost(record, other);
        if (cost > source_.bound_) continue;
        if (source_.prune_) {
          if (!is_value && asleep(thread_hash(other))) continue;
          if (source_.visited(key(i, other), cost, sleep)) continue;
        }
        source_.add({answers_, i, answer(record, other), cost, sleep},
                    preempts ? &footprints_[record.event] : nullptr, thread_hash(record.thread));
      }
    }

    /// The thread's last event, but it did not end: what it did then (leave the program, crash)
    /// is no event, so that only switching before this one lets others come first.
    bool ends_unseen(std::size_t event) const {
      const abi::EventRecord& record = events_[event];
      return record.thread >= last_event_.size() ||
             (last_event_[record.thread] == event && record.kind != abi::EventKind::ThreadExit);
    }

    /// Creating, ending and joining only ever let more threads go on: others lose nothing by
    /// coming afterwards.
    static bool independent_of_all(abi::EventKind kind, const Footprint& operation) {
      return kind == abi::EventKind::ThreadCreate || kind == abi::EventKind::ThreadExit ||
             kind == abi::EventKind::ThreadJoin || !operation.touches_anything();
    }

    BoundedSource& source_;
    std::span<const abi::EventRecord> events_;
    std::span<const abi::DecisionRecord> decisions_;
    std::span<const abi::ThreadRecord> threads_;
    const std::uint32_t cost_;
    Sleep sleep_;
    std::shared_ptr<const Decisions> answers_;
    std::vector<Footprint> footprints_;
    std::vector<std::size_t> last_event_;
    std::vector<std::uint64_t> states_;
  };

  struct Visit {
    std::uint32_t cost;
    std::vector<std::uint64_t> asleep;  // sorted
  };

  /// Notes that this choice in this state is gone on from. True if it has been, by a visit that
  /// covers this one.
  bool visited(std::uint64_t key, std::uint32_t cost, const Sleep& sleep) {
    std::vector<std::uint64_t> asleep;
    for (const Asleep& entry : sleep) asleep.push_back(entry.thread);
    std::sort(asleep.begin(), asleep.end());
    const auto found = visits_.find(key);
    if (found != visits_.end()) {
      for (const Visit& visit : found->second) {
        if (visit.cost <= cost &&
            std::includes(asleep.begin(), asleep.end(), visit.asleep.begin(), visit.asleep.end())) {
          return true;
        }
      }
      found->second.push_back({cost, std::move(asleep)});
    } else if (visits_.size() < kMostStates) {
      visits_[key].push_back({cost, std::move(asleep)});
    }
    return false;
  }

  void add(Prefix prefix, const Footprint* preempted_operation, std::uint64_t thread) {
    if (preempted_operation != nullptr && !contention_.contended(*preempted_operation, thread)) {
      deferred_.push_back({std::move(prefix), thread, *preempted_operation});
      return;
    }
    const std::uint32_t cost = prefix.cost;
    waiting_[cost].push_back(std::move(prefix));
  }

  void release_deferred() {
    std::erase_if(deferred_, [this](Deferred& entry) {
      if (!contention_.contended(entry.operation, entry.thread)) return false;
      waiting_[entry.prefix.cost].push_back(std::move(entry.prefix));
      return true;
    });
  }

  abi::Options options_;
  const std::vector<abi::PlanRecord> absent_;
  const Cost cost_;
  const std::uint32_t bound_;
  bool prune_ = true;
  bool incomplete_ = false;
  std::map<std::uint32_t, std::deque<Prefix>> waiting_;  // by cost; no queue is empty
  std::unordered_map<std::uint64_t, Prefix> under_way_;  // by trial number
  std::map<std::uint32_t, std::uint64_t> at_cost_;       // how many of them with which cost
  std::unordered_map<std::uint64_t, std::vector<Visit>> visits_;
  std::vector<Deferred> deferred_;
  Contention contention_;
  std::uint64_t last_ = 0;
};

}  // namespace

std::unique_ptr<TrialSource> make_bounded_source(const SearchSettings& settings, Cost cost,
                                                 std::uint32_t bound) {
  return std::make_unique<BoundedSource>(settings, cost, bound);
}

}  // namespace heddle::driver
