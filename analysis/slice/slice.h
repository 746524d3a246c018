// SPDX-License-Identifier: Apache-2.0
//
// Backward dynamic slice of a run: the events that a given one may depend on, over the
// multithreaded dependence graph of LEAN (section 3.2.1). Between threads: release to acquire,
// creation to start, end to join, signal to wake-up, and write to read, read to write, write to
// write of the same memory. Within a thread every earlier event counts as a dependence, as data and
// control dependences of the instructions in between are not in a trace: the slice is never too
// small, and it is what a dependence-only reduction (ER: Tallam et al., ISSTA 2007) can do with a
// trace.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace heddle::analysis {

enum class DependenceKind : std::uint8_t {
  Synchronisation,  // released, posted, signalled or left there before
  Fork,
  Join,
  WriteRead,
  ReadWrite,
  WriteWrite,
};
const char* name_of(DependenceKind kind);

/// Event `to` of one thread depends on event `from` of another.
struct Dependence {
  std::size_t from = 0;
  std::size_t to = 0;
  DependenceKind kind = DependenceKind::Synchronisation;
  bool operator==(const Dependence&) const = default;
};

/// All dependences between threads, by `to`.
std::vector<Dependence> dependences_between_threads(const trace::Trace& trace);

struct Slice {
  std::size_t at = 0;
  std::vector<bool> contains;       // by event
  std::size_t size = 0;             // events in it
  std::vector<Dependence> reasons;  // for each other thread, the dependence that brought it in
};

/// The event a failure is told at: the last one of the thread that failed.
std::size_t failing_event(const trace::Trace& trace);
/// Throws a user error if the run has no such event.
Slice slice(const trace::Trace& trace, std::size_t at);

}  // namespace heddle::analysis
