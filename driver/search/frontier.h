// SPDX-License-Identifier: Apache-2.0
//
// The prefixes of schedules that a systematic search has yet to try, the cheaper first. Those that
// preempt somebody before an operation on something no other thread uses are put off until one
// does. What does not fit into memory is forgotten, the dearer first, and the bound it would have
// counted for is then never said to be exhausted.
#pragma once

#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "driver/search/contention.h"

namespace heddle::driver {

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

class Frontier {
 public:
  static constexpr std::size_t kMostWaiting = 2 << 20;  // some 200 MB
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  explicit Frontier(std::size_t most = kMostWaiting) : most_(most) {}

  void add(Prefix prefix);
  /// A prefix that preempts `thread` before `operation`.
  void add_preemption(Prefix prefix, std::uint64_t thread, const Footprint& operation);
  /// An operation that some execution had.
  void note(const Footprint& operation, std::uint64_t thread);
  /// To be called when all operations of an execution have been noted.
  void release_deferred();

  Prefix take();
  /// kNone: none waits.
  std::uint32_t lowest_cost() const { return waiting_.empty() ? kNone : waiting_.begin()->first; }
  std::size_t waiting_at_lowest() const {
    return waiting_.empty() ? 0 : waiting_.begin()->second.size();
  }
  /// The lowest cost of a prefix that had to be forgotten, or kNone.
  std::uint32_t forgotten_cost() const { return forgotten_cost_; }

 private:
  struct Deferred {
    Prefix prefix;
    std::uint64_t thread;  // that would be preempted
    Footprint operation;
  };

  /// False if it is the new one, of `cost`, that has to go.
  bool make_room(std::uint32_t cost);
  void forget(std::uint32_t cost) { forgotten_cost_ = std::min(forgotten_cost_, cost); }

  const std::size_t most_;
  std::map<std::uint32_t, std::deque<Prefix>> waiting_;  // by cost; no queue is empty
  std::vector<Deferred> deferred_;
  std::size_t size_ = 0;  // of all of them
  bool contention_changed_ = false;
  std::uint32_t forgotten_cost_ = kNone;
  Contention contention_;
};

}  // namespace heddle::driver
