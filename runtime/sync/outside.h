// SPDX-License-Identifier: Apache-2.0
//
// Waiting for what no thread of the program does: descriptors, child processes, signals from other
// processes. Whether such a thing has happened is asked without waiting; a thread it has not
// happened for is held up like one that waits for a mutex, and the others go on. Only when nobody
// can go on does the process really wait.
#pragma once

#include <poll.h>

#include "runtime/session/session.h"

namespace heddle::runtime {

/// What a thread waits for. Lives on its stack for as long as it waits.
struct OutsideEvent {
  /// Looks without waiting.
  bool (*happened)(const OutsideEvent& event);
  pollfd* descriptors = nullptr;  // that show it; none: it has to be looked for now and then
  unsigned count = 0;
  long subject[2] = {};  // the caller's own
};

/// The turn of an operation that cannot be done before `event` has happened, unless a signal or a
/// cancellation comes for the thread. Returns false when it is a signal.
bool outside_arrive(Session& session, Operation operation, OutsideEvent& event);
/// Something that others may wait for outside was done: looks again who can go on.
void outside_refresh(Session& session);
/// The current thread is about to let time pass while nobody else can go on: gives what others wait
/// for outside up to `nanoseconds` of real time, so that a loop of sleeps does not run away from
/// it.
void outside_pause(Session& session, std::int64_t nanoseconds);
/// Waits in earnest, at the most `nanoseconds` and never long, for the descriptors.
void outside_poll(pollfd* descriptors, unsigned count, std::int64_t nanoseconds);

}  // namespace heddle::runtime
