// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/breakpoint.h"

#include "runtime/base/vector.h"

namespace heddle::runtime {
namespace {

/// A thread that only looks at memory, waiting for one that is postponed, keeps a run going without
/// getting anywhere: after this many events of others a pause is over. Many pauses must fit into a
/// run, or it would end as making no progress.
constexpr std::uint64_t kPatience = 100'000;
constexpr std::uint64_t kPausesInARun = 8;

struct Postponed {
  abi::ThreadIndex thread;
  const void* token;
  std::uint64_t until;  // number of events at which its pause is over
  bool in_vain;
};

struct Following {
  abi::ThreadIndex thread;
  abi::ThreadIndex leader;
  std::uint64_t operations;  // the leader's, when it left the breakpoint
};

struct Resumption {
  const void* token;
  abi::ThreadIndex by;
  std::uint64_t operations;  // of the thread `by` at that moment
};

/// Who ended the last pause of a thread.
struct LastResumed {
  abi::ThreadIndex thread;
  abi::ThreadIndex by;
  std::uint64_t operations;
};

constinit Vector<Postponed> postponed;  // oldest first
constinit Vector<Following> following;
constinit Vector<Resumption> resumptions;  // that no pause has taken note of; one a token
constinit Vector<LastResumed> last_resumed;

template <typename Entry>
Entry* find(Vector<Entry>& entries, abi::ThreadIndex thread) {
  for (Entry& entry : entries) {
    if (entry.thread == thread) return &entry;
  }
  return nullptr;
}

template <typename Entry>
void remove(Vector<Entry>& entries, abi::ThreadIndex thread) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].thread == thread) return entries.erase(i);
  }
}

Resumption* find_resumption(const void* token) {
  for (Resumption& resumption : resumptions) {
    if (resumption.token == token) return &resumption;
  }
  return nullptr;
}

/// The resumption that this thread's pause was waiting for, if it has come.
bool take_resumption(const void* token, abi::ThreadIndex thread) {
  for (std::size_t i = 0; i < resumptions.size(); ++i) {
    if (resumptions[i].token != token) continue;
    const LastResumed last{thread, resumptions[i].by, resumptions[i].operations};
    resumptions.erase(i);
    if (LastResumed* const before = find(last_resumed, thread)) {
      *before = last;
    } else {
      last_resumed.push_back(last);
    }
    return true;
  }
  return false;
}

bool pause_ready(const Operation& operation) {
  const Postponed* const entry = find(postponed, operation.thread);
  return entry == nullptr || entry->in_vain || find_resumption(entry->token) != nullptr;
}

bool follow_ready(const Operation& operation) {
  const Following* const entry = find(following, operation.thread);
  if (entry == nullptr || entry->leader == abi::kNoThread) return true;
  return !session().can_go_on(entry->leader) ||
         session().thread(entry->leader).operations > entry->operations;
}

abi::ThreadIndex nobody(const Operation&, abi::SiteId&) {
  return abi::kNoThread;
}

constexpr Blocking kPausing{&pause_ready, &nobody};
constexpr Blocking kFollowing{&follow_ready, &nobody};

/// Looks at those who are held back, and says at which event to look again.
std::uint64_t look(Session& session) {
  std::uint64_t next = following.empty() ? Session::kNeverLook : 0;
  for (Postponed& entry : postponed) {
    if (session.recorder().event_count() >= entry.until) entry.in_vain = true;
    if (!entry.in_vain && entry.until < next) next = entry.until;
    session.refresh_thread(entry.thread);
  }
  for (const Following& entry : following) session.refresh_thread(entry.thread);
  return next;
}

/// Nobody can go on: the pause that has lasted longest is over.
bool release(Session& session) {
  look(session);
  if (session.any_can_go_on()) return true;
  for (Postponed& entry : postponed) {
    if (entry.in_vain) continue;
    entry.in_vain = true;
    session.refresh_thread(entry.thread);
    return true;
  }
  return false;
}

constexpr HeldBack kHeldBack{&look, &release};

std::uint64_t patience(Session& session) {
  const std::uint64_t share = session.recorder().channel().options.max_events / kPausesInARun;
  return share < kPatience ? share : kPatience;
}

abi::ThreadIndex find_by_handle(Session& session, unsigned long handle) {
  for (std::uint32_t i = 0; i < session.thread_count(); ++i) {
    const Thread& thread = session.thread(static_cast<abi::ThreadIndex>(i));
    if (thread.handle == handle && !thread.finished) return thread.index;
  }
  return abi::kNoThread;
}

}  // namespace

bool breakpoint_pause(Session& session, const BreakpointSide& side, const void* token,
                      abi::SiteId site) {
  const Operation operation =
      operation_on(side.breakpoint, abi::EventKind::BreakpointPause, site, &kPausing);
  const abi::ThreadIndex thread = session.current_index();
  postponed.push_back({thread, token, session.recorder().event_count() + patience(session), false});
  session.hold_back(kHeldBack);
  session.arrive(operation);
  remove(postponed, thread);
  const bool resumed = take_resumption(token, thread);
  session.record(operation, side.sides, resumed ? 1 : 0, side.side);
  return resumed;
}

void breakpoint_resume(Session& session, const void* token) {
  const Resumption now{token, session.current_index(), session.current().operations};
  if (Resumption* const before = find_resumption(token)) {
    *before = now;
  } else {
    resumptions.push_back(now);
  }
  for (const Postponed& entry : postponed) {
    if (entry.token == token) session.refresh_thread(entry.thread);
  }
}

void breakpoint_follow(Session& session, const void* breakpoint, unsigned long leader,
                       abi::SiteId site) {
  const Operation operation =
      operation_on(breakpoint, abi::EventKind::BreakpointFollow, site, &kFollowing);
  const abi::ThreadIndex thread = session.current_index();
  const abi::ThreadIndex ahead = find_by_handle(session, leader);
  const LastResumed* const last = find(last_resumed, thread);
  // The leader may have done more than one operation before this thread's turn came.
  const bool left_before = last != nullptr && last->by == ahead;
  const std::uint64_t now = ahead == abi::kNoThread ? 0 : session.thread(ahead).operations;
  following.push_back({thread, ahead, left_before ? last->operations : now});
  session.hold_back(kHeldBack);
  session.arrive(operation);
  remove(following, thread);
  session.record(operation);
}

}  // namespace heddle::runtime
