// SPDX-License-Identifier: Apache-2.0
//
// What events of a run depend on, as the trace tells it: the edges between threads of LEAN's
// multithreaded dependence graph (section 3.2.1).
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace heddle::analysis {

/// Memory is looked at in cells of so many bytes.
inline constexpr std::uint64_t kCellBytes = 8;

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
/// The same, and what a thread reads that it wrote itself.
std::vector<Dependence> dependences_of_events(const trace::Trace& trace);

/// By thread, whom its events count for: what a thread's store buffer does is done for the thread.
std::vector<trace::ThreadId> owners(const trace::Trace& trace);

}  // namespace heddle::analysis
