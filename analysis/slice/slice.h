// SPDX-License-Identifier: Apache-2.0
//
// Backward dynamic slice of a run: the events that a given one may depend on, over the
// multithreaded dependence graph of LEAN (section 3.2.1, Algorithm 3). Between threads: release to
// acquire, creation to start, end to join, signal to wake-up, and write to read, read to write,
// write to write of the same memory.
//
// Within a thread, what the program's code says (pass/dependences.h): an access counts if its
// instruction may be needed, for its value or as a condition, by one that is in the slice, or if it
// wrote what one in the slice read; synchronisation counts always, since it decides what others
// may do. Without the code every earlier event of the thread counts, which is what a
// dependence-only reduction (ER: Tallam et al., ISSTA 2007) can do with a trace. Neither slice is
// ever too small.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/slice/event_dependences.h"
#include "ir/dependence_graph.h"
#include "trace/trace.h"

namespace heddle::analysis {

struct Slice {
  std::size_t at = 0;
  std::vector<bool> contains;       // by event
  std::size_t size = 0;             // events in it
  std::vector<Dependence> reasons;  // for each other thread, the dependence that brought it in
  std::uint32_t instructions = 0;   // of the program's code, in the slice of any thread
};

/// The code of the program that a trace is of.
struct Code {
  const ir::DependenceGraph& graph;
  /// By site of the trace: the number of its instruction; 0: none that the graph knows.
  std::vector<std::uint32_t> instructions;
};

/// The event a failure is told at: the last one of the thread that failed.
std::size_t failing_event(const trace::Trace& trace);
/// Throws a user error if the run has no such event. Without `code`: whole threads.
Slice slice(const trace::Trace& trace, std::size_t at, const Code* code = nullptr);
/// Of the failure: also of what was about to happen when the run ended, in all threads that wait.
Slice slice_of_failure(const trace::Trace& trace, const Code* code = nullptr);

/// The events outside the slice that access memory which one in it accesses, at any time. A slice
/// holds what was done; that something was not done (a write that a branch left out, or that came
/// too late) is told by these.
std::vector<bool> at_same_memory(const trace::Trace& trace, const Slice& slice);

/// What is in a slice already, of the events from some number on.
struct SliceSoFar {
  struct Thread {
    bool is_reached = false;
    bool is_whole = false;                    // all that it did before
    std::vector<std::uint32_t> instructions;  // what they depend on counts, too
  };
  Slice slice;
  std::vector<Thread> threads;
};
/// Adds the events before `end`.
Slice slice_before(std::size_t end, SliceSoFar&& so_far, const trace::Trace& trace,
                   const Code& code);

}  // namespace heddle::analysis
