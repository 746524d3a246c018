// SPDX-License-Identifier: Apache-2.0
#include "driver/search/bounded_walk.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "driver/search/happens_before.h"

namespace heddle::driver {
namespace {

bool sleeps(const Sleep& sleep, std::uint64_t thread) {
  return std::any_of(sleep.begin(), sleep.end(),
                     [&](const Asleep& entry) { return entry.thread == thread; });
}

class Walk {
 public:
  Walk(BoundedSearch& search, const Channel& channel, const Prefix& prefix)
      : search_(search),
        events_(channel.events()),
        decisions_(channel.decisions()),
        cost_(prefix.cost),
        sleep_(prefix.sleep) {
    auto trail = std::make_shared<Trail>();
    trail->decisions.assign(decisions_.begin(), decisions_.end());
    for (const abi::ThreadRecord& thread : channel.threads()) trail->threads.push_back(thread.hash);
    trail_ = trail;
    if (!search_.prune) return;
    const Footprints footprints(channel);
    footprints_.reserve(events_.size());
    last_event_.assign(trail->threads.size(), 0);
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const abi::EventRecord& event = events_[i];
      footprints_.push_back(footprints.of(event));
      search_.frontier.note(footprints_.back(), trail->thread(event.thread));
      if (event.thread < last_event_.size()) last_event_[event.thread] = i;
    }
    search_.frontier.release_deferred();
    trail->states = states_before_decisions(channel, footprints_);
  }

  void run(std::size_t planned) {
    std::size_t event = planned == 0                  ? 0
                        : decisions_.size() < planned ? events_.size()
                                                      : decisions_[planned - 1].event;
    for (std::size_t i = planned; i < decisions_.size(); ++i) {
      const abi::DecisionRecord& record = decisions_[i];
      if (search_.prune) {
        for (; event < record.event && event < events_.size(); ++event) {
          if (!pass(event)) return;
        }
        if (record.kind == abi::DecisionKind::Thread && record.could_continue == 0) wake_sync();
      }
      // The default may be known while an alternative is not: they cost different thread
      // switches.
      const bool known =
          search_.prune && search_.visited.visit(trail_->key(i, record.chosen), cost_, sleep_);
      add_alternatives(i);
      if (known) return;
    }
  }

 private:
  /// Whoever switched away because it could not go on might have been able to, had a thread that
  /// sleeps before an operation of synchronisation done it.
  void wake_sync() {
    std::erase_if(sleep_, [](const Asleep& entry) { return entry.operation.synchronises(); });
  }

  /// False when what follows is redundant: a thread that sleeps does its operation.
  bool pass(std::size_t event) {
    const abi::EventRecord& done = events_[event];
    if (sleep_.empty()) return true;
    if (sleeps(sleep_, trail_->thread(done.thread))) return false;
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
    return at != decisions_.end() && at->event == event && at->kind == abi::DecisionKind::Thread &&
           at->could_continue != 0;
  }

  /// The cost of answering `other` instead of the default.
  std::uint32_t extra_cost(const abi::DecisionRecord& record, std::uint32_t other) const {
    if (record.kind == abi::DecisionKind::Value) return 0;
    if (search_.cost == Cost::Preemptions) return record.could_continue != 0 ? 1 : 0;
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
      search_.incomplete = true;  // threads from the 65th on are not in the set
    }
    // The thread that would be preempted, if what it does next is known to be reorderable.
    const bool preempts = !is_value && record.could_continue != 0 &&
                          record.chosen == record.thread && search_.prune &&
                          search_.cost == Cost::Preemptions && record.event < events_.size() &&
                          !ends_unseen(record.event);
    Sleep sleep = sleep_;
    if (preempts) {
      const Footprint& operation = footprints_[record.event];
      if (independent_of_all(events_[record.event].kind, operation)) return;
      sleep.push_back({trail_->thread(record.thread), operation});
    }
    // A bit for each answer, 64 at a time.
    const std::uint32_t answers = is_value ? record.bound : 64;
    for (std::uint32_t first = 0; first < answers; first += 64) {
      std::uint64_t others = record.enabled;
      if (is_value) others = answers - first < 64 ? (1ull << (answers - first)) - 1 : ~0ull;
      if (record.chosen - first < 64) others &= ~(1ull << (record.chosen - first));
      add_branches({trail_, i, first, others, cost_, sleep}, preempts);
    }
  }

  /// One for each cost.
  void add_branches(Branch branch, bool preempts) {
    const abi::DecisionRecord& record = decisions_[branch.decision];
    const bool same_cost =
        search_.cost == Cost::Preemptions || record.kind == abi::DecisionKind::Value;
    for (std::uint64_t left = branch.others; left != 0; left &= ~branch.others) {
      branch.others = same_cost ? left : left & -left;
      const auto other = static_cast<std::uint32_t>(std::countr_zero(left));
      branch.cost = cost_ + extra_cost(record, other);
      if (branch.cost > search_.bound) continue;
      if (preempts) {
        search_.frontier.add_preemption(branch, trail_->thread(record.thread),
                                        footprints_[record.event]);
      } else {
        search_.frontier.add(branch);
      }
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

  BoundedSearch& search_;
  std::span<const abi::EventRecord> events_;
  std::span<const abi::DecisionRecord> decisions_;
  const std::uint32_t cost_;
  Sleep sleep_;
  std::shared_ptr<const Trail> trail_;
  std::vector<Footprint> footprints_;
  std::vector<std::size_t> last_event_;
};

}  // namespace

bool worth_trying(const Prefix& prefix, BoundedSearch& search) {
  if (!search.prune || !prefix.trail) return true;
  const Trail& trail = *prefix.trail;
  const bool is_thread = trail.decisions[prefix.decision].kind == abi::DecisionKind::Thread;
  if (is_thread && sleeps(prefix.sleep, trail.thread(prefix.chosen))) return false;
  return !search.visited.visit(trail.key(prefix.decision, prefix.chosen), prefix.cost,
                               prefix.sleep);
}

void learn_from(const Channel& channel, const Prefix& prefix, std::size_t planned,
                BoundedSearch& search) {
  Walk(search, channel, prefix).run(planned);
}

}  // namespace heddle::driver
