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
  /// Looks without waiting. Where there are descriptors, that is whether one of them shows
  /// anything.
  bool (*happened)(const OutsideEvent& event);
  pollfd* descriptors = nullptr;  // that show it; none: it has to be looked for now and then
  unsigned count = 0;
  long subject[2] = {};  // the caller's own
  /// While all who wait are looked after at once: what the kernel has said.
  enum class Answer : unsigned char { None, No, Yes } answer = Answer::None;
};

/// The turn of an operation that cannot be done before `event` has happened, unless a signal or a
/// cancellation comes for the thread. Returns false when it is a signal.
bool outside_arrive(Session& session, Operation operation, OutsideEvent& event);
/// What an operation that waits outside waits for; nullptr if it does not.
const OutsideEvent* outside_event_of(const Operation& operation);
/// Somebody may wait for what another process does in memory (Reach::Noticed).
void outside_watch(Session& session);
/// A condition variable, barrier or read-write lock was used. If it is `shared` and there are
/// children, one of them may wait for it natively, and never know.
void outside_note_use(bool shared);
/// The same in a run that goes by real time, for no longer than `nanoseconds`. Returns 0 when it
/// has happened, -EINTR when it is a signal, -EAGAIN when the time is over.
int outside_arrive_within(Session& session, Operation operation, OutsideEvent& event,
                          std::int64_t nanoseconds);
/// Something that others may wait for outside was done: looks again who can go on.
void outside_refresh(Session& session);
/// The current thread is about to let time pass. If all others who could go on would do no more
/// than that, gives what is waited for outside (and `own`, if there is) up to `nanoseconds` of real
/// time, so that loops around sleeps and time limits do not run away from the rest of the world.
void outside_pause(Session& session, std::int64_t nanoseconds, const OutsideEvent* own = nullptr);

/// The descriptor is one end of something that was made here and whose other end is here too: only
/// this program's own threads can make it ready, as long as it has no children.
void outside_mark_internal(int descriptor, bool internal);
bool outside_is_internal(int descriptor);
/// Of a file with that mode (as stat says it) all is there at once: nobody waits for it.
bool outside_is_plain(unsigned mode);
/// Reading the descriptor may take as long as whoever writes there likes.
bool outside_can_wait(int descriptor);

}  // namespace heddle::runtime
