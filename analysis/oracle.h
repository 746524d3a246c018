// SPDX-License-Identifier: Apache-2.0
//
// How an analysis gets another execution of the program it thinks about. The driver implements it
// with the program; tests with a toy.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trace/schedule.h"
#include "trace/trace.h"

namespace heddle::analysis {

/// One execution: what it did, and the schedule that does exactly that again.
struct Attempt {
  trace::Trace trace;
  trace::Schedule schedule;
  std::string standard_output;
  std::string standard_error;
  double seconds = 0;
};

/// What to look for in all schedules with few preemptions, and how long.
struct SearchRequest {
  std::string signature;
  std::uint32_t most_preemptions = 0;
  std::uint64_t most_executions = 0;
  std::uint64_t most_events = 0;  // of all executions together
  std::function<bool()> stop;
};

struct SearchResult {
  std::optional<Attempt> found;  // with as few preemptions as any
  std::uint64_t executions = 0;
  std::uint64_t events = 0;
  bool complete = false;  // every schedule within the bound was tried: there is none if not found
};

/// In all of these, of the program without the absent threads and skipped iterations of a schedule.
class Oracle {
 public:
  virtual ~Oracle() = default;
  /// How many executions it does at the same time.
  virtual unsigned parallel() const { return 1; }
  /// For each schedule: executes the program and takes each decision whose point is reached, in
  /// whatever order they are. Where it says nothing the running thread goes on, else the eldest
  /// that can.
  virtual std::vector<Attempt> follow(std::span<const trace::Schedule> schedules) = 0;
  /// Executes without preemption. `order` says who goes on when a thread cannot: 0 the eldest, 1
  /// the youngest, any other number in an order of its own, the same whichever threads are absent.
  /// The decisions of the schedule do not matter.
  virtual Attempt run_sequentially(const trace::Schedule& schedule, std::uint64_t order) = 0;
  /// Looks for a failure with that signature. The decisions of the schedule do not matter.
  virtual SearchResult search(const trace::Schedule& schedule, const SearchRequest& request) = 0;
};

}  // namespace heddle::analysis
