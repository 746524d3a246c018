// SPDX-License-Identifier: Apache-2.0
//
// The seam through which every nondeterministic choice of a controlled run passes.
//
// Session calls it; a strategy decides and never executes. Invariants: choose() is called exactly
// once for each operation a thread comes to (also when only one thread can go on, if the strategy
// says that it counts), plus once when a thread has ended; only operations at sites the plan calls
// quiet are passed over, and the late ones of a run that seems not to end (fair_turns.h).
// choose_value() is called by the running thread while it carries out its operation. The answers
// alone determine the run.
//
// Rejected: letting strategies compare raw addresses between runs (they see locations that mean
// something only within one), and letting the driver decide step by step (a round trip between
// processes costs more than the whole operation).
#pragma once

#include <cstddef>
#include <cstdint>

#include "abi/channel.h"
#include "runtime/schedule/thread_set.h"

namespace heddle::runtime {

/// What a thread is about to do.
struct Pending {
  abi::EventKind kind = abi::EventKind::None;
  abi::SiteId site = abi::kUnknownSite;
  std::uint64_t location = 0;  // what it acts on, opaque; 0: nothing others could act on too
  abi::Access access = abi::Access::None;

  bool writes() const { return access != abi::Access::None && access != abi::Access::Read; }
  /// Whether their order can matter: the same location, and not both only read it. All operations
  /// of synchronisation count as writing.
  bool conflicts_with(const Pending& other) const {
    return location != 0 && location == other.location && (writes() || other.writes());
  }
};

/// The threads of the run, for strategies that look at others than the running one.
class ThreadView {
 public:
  const Pending& pending_of(abi::ThreadIndex thread) const { return pending_[thread]; }
  /// Its identity across runs.
  virtual std::uint64_t hash_of(abi::ThreadIndex thread) const = 0;
  /// Whether it is about to sleep, or to wait for something until a time limit.
  virtual bool lets_time_pass(abi::ThreadIndex) const { return false; }

  // Stores that wait to become visible, of a thread or of the one that a flusher serves. There are
  // none under sequential consistency.
  /// How many, and at which site the n-th, in the order in which they were done.
  virtual std::uint32_t pending_stores(abi::ThreadIndex) const { return 0; }
  virtual abi::SiteId pending_store(abi::ThreadIndex, std::uint32_t) const {
    return abi::kUnknownSite;
  }
  /// At which site the n-th of those is that a flusher could choose now.
  virtual abi::SiteId flush_choice(abi::ThreadIndex, std::uint32_t) const {
    return abi::kUnknownSite;
  }
  virtual std::uint32_t flush_choices(abi::ThreadIndex) const { return 0; }
  /// Whether what the thread is about to do makes all of them visible first.
  virtual bool drains_first(abi::ThreadIndex) const { return false; }
  /// The thread's flusher; the thread itself if it has none.
  virtual abi::ThreadIndex flusher_of(abi::ThreadIndex thread) const { return thread; }
  /// How many stores done at `site` that flusher's thread has made visible.
  virtual std::uint32_t flushes(std::uint64_t /*flusher*/, abi::SiteId /*site*/) const { return 0; }

 protected:
  ~ThreadView() = default;
  /// Part by part: what is put together elsewhere and copied from there has to wait for the parts.
  [[gnu::always_inline]] void set_pending(abi::ThreadIndex thread, const Pending& pending) {
    Pending& own = pending_[thread];
    own.kind = pending.kind;
    own.site = pending.site;
    own.location = pending.location;
    own.access = pending.access;
  }

 private:
  // Side by side: some strategies look at those of all threads at every choice.
  Pending pending_[abi::kMaxThreads];
};

struct SchedulingPoint {
  abi::ThreadIndex current;    // who ran last
  std::uint64_t current_hash;  // its identity across runs
  const Pending& pending;      // what it is about to do
  const ThreadSet& enabled;    // never empty
  const ThreadView& threads;
};

/// The driver's instructions for this run, and how to name threads in them.
struct Plan {
  const abi::PlanRecord* records;
  std::size_t count;
};

/// Finds a thread by its path hash; kNoThread if it was not created (yet).
using ThreadFinder = abi::ThreadIndex (*)(std::uint64_t hash);

class Strategy {
 public:
  virtual void begin_run(const abi::Options& options, Plan plan, ThreadFinder find) = 0;
  /// A member of point.enabled, or kNoThread: the plan cannot be followed.
  virtual abi::ThreadIndex choose(const SchedulingPoint& point) = 0;
  /// False: choose() need not be called where the running thread alone can go on.
  virtual bool counts_when_alone() const { return true; }
  /// A number below `bound` (which is at least 2), or kCannotFollow.
  virtual std::uint32_t choose_value(const SchedulingPoint& point, std::uint32_t bound) = 0;
  /// At the beginning of a run that goes on from a checkpoint: `thread` is about to do something at
  /// `site`, which nobody was asked about when it came there.
  virtual void note_pending(std::uint64_t /*thread*/, abi::SiteId /*site*/) {}
  /// What there is of the run so far was common to several: from here on it is this plan's. The
  /// strategy was told another one, which said the same of all that has been asked so far.
  virtual void go_on_by(const abi::Options&, Plan) {}
  /// Index of the plan record that is next; for the report of a divergence.
  virtual std::size_t plan_position() const { return 0; }

  static constexpr std::uint32_t kCannotFollow = 0xffffffff;

 protected:
  ~Strategy() = default;
};

/// The strategy of that name (abi/options.def), or nullptr.
Strategy* find_strategy(const char* name);

}  // namespace heddle::runtime
