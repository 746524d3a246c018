// SPDX-License-Identifier: Apache-2.0
//
// The smallest execution that still shows the bug, after LEAN (Huang and Zhang, OOPSLA 2012): whole
// threads by hierarchical delta debugging over the thread tree (its Algorithms 1 and 2), iterations
// of repetitive blocks (Algorithm 4), and, which LEAN lacks, preemptions. In the end what is left
// is seen no further than the failure depends on it (Algorithm 3, overlook.h).
//
// A step is accepted when the failure keeps its signature under the schedule that is left (I) and
// the program without what was removed passes in a sequential order (II): else the removed work is
// what is missing, which is another bug. The order is one in which the run passes that the step was
// taken from, found by trying (sequential.h); where it passes with the eldest threads first and
// with the youngest first, both count: without the one who does the work, a program may still pass
// if nobody asks for it. Where there is none (some order violations need no preemption), it is
// asked with every thread running as soon as it is created; where that fails, too, in random
// schedules of which one has to pass; where all of those fail as well, (I) alone decides. The
// result says so.
//
// Where nothing more goes under what is left of the run's schedule, smaller programs are tried
// under a few others (smaller_programs.h): the failure may need less than this way to it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/oracle.h"
#include "analysis/reduce/overlook.h"

namespace heddle::analysis {

struct Size {
  std::uint64_t threads = 0;
  std::uint64_t events = 0;
  std::uint64_t switches = 0;
  std::uint64_t preemptions = 0;
  double replay_seconds = 0;
};
Size size_of(const Attempt& attempt);
/// Without those that it had in common with an earlier one and that were not executed again.
std::uint64_t events_executed(const Attempt& attempt);

/// One line of the account: a thread or the iterations of a block, gone or still there, and why.
struct AccountEntry {
  std::string thread;
  trace::Frame place;  // where the thread was created, or the block is; line 0: not known
  std::vector<std::uint32_t> iterations;  // empty: the whole thread
  std::uint64_t events = 0;               // of the original run
  bool removed = false;
  std::string why;
};

/// What each part of the reduction took off.
struct Share {
  std::uint64_t events_removed = 0;
  std::uint64_t trials = 0;
  std::uint64_t events_executed = 0;
};

/// Why accesses outside the slice are still events.
enum class Overlooking {
  Done,             // they are not
  NothingOutside,   // there are none
  NoSlice,          // it is not known what the failure depends on
  DelayedStores,    // the memory model has to see every access
  FailureIsMissed,  // without them it does not come back
  NotAsked,         // the user wanted to stop
};

struct Reduction {
  Attempt best;
  Size before;
  Size after;
  std::vector<AccountEntry> account;
  std::vector<std::string> removed_threads;
  Share guess, threads, iterations, other_schedules, switches, slice;
  Share proof;  // of the switches' share: the search through all schedules with fewer preemptions
  Overlooking overlooking = Overlooking::NotAsked;
  std::vector<OverlookedLine> overlooked;  // beyond what the original run overlooked
  std::uint64_t rounds = 0;
  std::uint64_t trials = 0;                    // executions, those of the search included
  std::uint64_t events_executed = 0;           // in all of them
  std::optional<std::uint64_t> passing_order;  // in which `best` passes (ReducingOracle)
  bool passes_promptly = false;   // in none, but with every thread running as soon as it is created
  bool passes_by_chance = false;  // neither, but in some random schedules
  bool fewest_preemptions = false;  // every schedule with fewer was tried and does not fail so
  bool gave_up = false;             // not all iterations were tried: too many were needed
  bool stopped = false;             // `stop` said so: `best` is the best so far
};

struct ReduceProgress {
  const char* phase;
  std::uint64_t round;
  std::uint64_t trials;
  Size best;
};

struct ReduceOptions {
  std::function<bool()> stop;   // asked between trials
  bool all_iterations = false;  // are tried, however many are needed
  /// For each event of a run whether the failure may depend on it; nothing: that is not known.
  std::function<std::optional<std::vector<bool>>(const trace::Trace&)> slice;
  std::function<void(const ReduceProgress&)> progress;
};

/// Throws a user error when the run did not fail, or the failure does not come back.
Reduction reduce(ReducingOracle& oracle, const Attempt& original, const ReduceOptions& options);

}  // namespace heddle::analysis
