// SPDX-License-Identifier: Apache-2.0
//
// A run without some of its parts: which events go, and the schedule of those that stay. LEAN takes
// the order of the remaining events from the trace; so does this, because a switch to a thread that
// goes and from there to one that stays is then a switch between the two that stay.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/oracle.h"

namespace heddle::analysis {

/// One iteration of a repetitive block: the `number`-th that `thread` begins at `site`.
struct Iteration {
  std::string thread;
  std::string site;
  std::uint32_t number = 0;
  // Not what it is, but what has to be known to leave it out:
  std::uint16_t creates = 0;  // threads
  bool again =
      false;  // between it and the one before it need not be asked whether the loop goes on

  std::strong_ordering operator<=>(const Iteration& other) const {
    return std::tie(thread, site, number) <=> std::tie(other.thread, other.site, other.number);
  }
  bool operator==(const Iteration& other) const { return (*this <=> other) == 0; }
};

/// What of a program is not executed, or not seen.
struct LeftOut {
  std::vector<std::string> threads;   // each with its descendants
  std::vector<Iteration> iterations;  // sorted
  std::vector<Iteration> tails;       // each with all iterations of its loop that follow
  std::vector<std::string> overlooked =
      {};  // sites at which plain accesses are executed, but no events
};
LeftOut left_out_of(const trace::Schedule& schedule);

/// A thread's descendants and its store buffer ("t0.1~") go with it.
bool is_part_of(const std::string& thread, const std::string& ancestor);

/// For each event of the run whether it would be missing, beyond what already is. Creating and
/// joining an absent thread is missing too, and asking whether a loop goes on between two
/// iterations that are left out together.
std::vector<bool> missing_events(const trace::Trace& trace, const LeftOut& left_out);

struct Projected {
  trace::Schedule schedule;
  std::uint64_t events = 0;
  std::vector<bool> missing;  // of the run's events
};
/// The schedule of the run's other events, and how many these are.
Projected project(const Attempt& run, const LeftOut& left_out);

/// Iterations that the run did not come to: of the loops that its threads are in at the end, those
/// after the present one, unless a thread waits for another there, which has to be waited for in
/// other schedules too. Without them a run is the same, but the rest of the program shorter.
std::vector<Iteration> unreached_tails(const Attempt& run);

/// The iterations that the run began, of each thread in order.
std::vector<Iteration> iterations_of(const trace::Trace& trace);
/// Of those, what may be tried to be left out. Loops that nobody has annotated keep the iterations
/// in which they create or join threads, since which threads there are is decided thread by thread,
/// and the one that they are in at the end: what was about to happen there is not known. `gone`:
/// threads that are left out with them.
std::vector<Iteration> removable_iterations(const trace::Trace& trace,
                                            const std::vector<std::string>& gone = {});

}  // namespace heddle::analysis
