// SPDX-License-Identifier: Apache-2.0
//
// The schedules that a systematic search has yet to try, the cheaper first: where an earlier trial
// decided something, its other answers wait as one branch. Those that preempt somebody before an
// operation on something no other thread uses are put off until one does. What does not fit into
// memory is forgotten, the dearer first, and the bound it would have counted for is then never said
// to be exhausted.
#pragma once

#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "driver/search/contention.h"

namespace heddle::driver {

/// A preempted thread and what it was about to do.
struct Asleep {
  std::uint64_t thread;
  Footprint operation;
};
using Sleep = std::vector<Asleep>;

/// What a trial decided, and in which states (happens_before.h; none where they are not compared).
struct Trail {
  std::vector<abi::DecisionRecord> decisions;
  std::vector<std::uint64_t> threads;  // path hashes, by number
  std::vector<std::uint64_t> states;

  std::uint64_t thread(std::uint32_t number) const {
    return number < threads.size() ? threads[number] : 0;
  }
  abi::PlanRecord answer(std::size_t decision, std::uint32_t chosen) const;
  /// Names this choice in the state it is made in.
  std::uint64_t key(std::size_t decision, std::uint32_t chosen) const;
};

/// The decisions of an earlier trial before one of them, then another answer.
struct Prefix {
  std::shared_ptr<const Trail> trail;  // none: nothing is decided beforehand
  std::size_t decision = 0;
  std::uint32_t chosen = 0;
  std::uint32_t cost = 0;
  Sleep sleep;
};

/// Prefixes that differ in their last answer only.
struct Branch {
  std::shared_ptr<const Trail> trail;
  std::size_t decision = 0;
  std::uint32_t first = 0;   // bit i of `others` is answer first + i
  std::uint64_t others = 1;  // never 0
  std::uint32_t cost = 0;
  Sleep sleep;
};

class Frontier {
 public:
  static constexpr std::size_t kMostWaiting = 2 << 20;  // branches: some 200 MB
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  explicit Frontier(std::size_t most = kMostWaiting) : most_(most) {}

  void add(Branch branch);
  /// A branch that preempts `thread` before `operation`.
  void add_preemption(Branch branch, std::uint64_t thread, const Footprint& operation);
  /// An operation that some execution had.
  void note(const Footprint& operation, std::uint64_t thread);
  /// To be called when all operations of an execution have been noted.
  void release_deferred();

  Prefix take();
  /// kNone: none waits.
  std::uint32_t lowest_cost() const { return waiting_.empty() ? kNone : waiting_.begin()->first; }
  /// How many prefixes.
  std::size_t waiting_at_lowest() const {
    return waiting_.empty() ? 0 : waiting_.begin()->second.prefixes;
  }
  /// The lowest cost of a branch that had to be forgotten, or kNone.
  std::uint32_t forgotten_cost() const { return forgotten_cost_; }

 private:
  struct Deferred {
    Branch branch;
    std::uint64_t thread;  // that would be preempted
    Footprint operation;
  };
  struct Queue {
    std::deque<Branch> branches;
    std::size_t prefixes = 0;  // in all of them
  };

  void wait(Branch branch);
  /// False if it is the new one, of `cost`, that has to go.
  bool make_room(std::uint32_t cost);
  void forget(std::uint32_t cost) { forgotten_cost_ = std::min(forgotten_cost_, cost); }

  const std::size_t most_;
  std::map<std::uint32_t, Queue> waiting_;  // by cost; no queue is empty
  std::vector<Deferred> deferred_;
  std::size_t size_ = 0;  // branches, of all of them
  bool contention_changed_ = false;
  std::uint32_t forgotten_cost_ = kNone;
  Contention contention_;
};

}  // namespace heddle::driver
