// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "trace/trace.h"

namespace heddle::trace {

/// A lock that a thread had when the run ended, also one that it took before it ended itself.
struct HeldLock {
  ThreadId thread = 0;
  EventKind taken_by = EventKind::None;  // mutex_lock, rwlock_rdlock ...
  SiteIndex site = kNone;                // where it was first taken
  ObjectIndex object = kNone;
  std::uint64_t offset = 0;
  bool operator==(const HeldLock&) const = default;
};

/// Mutexes, read-write locks and spin locks, in the order in which they were taken.
std::vector<HeldLock> held_locks(const Trace& trace);

}  // namespace heddle::trace
