// SPDX-License-Identifier: Apache-2.0
//
// Calls on descriptors. A call that would have to wait is held up until the descriptor is ready,
// and the other threads go on; the call itself is the kernel's. Time limits pass in virtual time:
// one is met when the thread's turn comes and nothing is ready.
#pragma once

#include <poll.h>

#include <cerrno>

#include "runtime/entry/gate.h"
#include "runtime/environment/environment.h"
#include "runtime/session/session.h"
#include "runtime/sync/outside.h"
#include "runtime/sync/signals.h"

namespace heddle::runtime {

inline constexpr std::int64_t kNoTimeLimit = -1;

/// How long a call on the descriptor may wait: 0 if not at all (O_NONBLOCK), else its time limit
/// (SO_RCVTIMEO, SO_SNDTIMEO) or kNoTimeLimit.
std::int64_t descriptor_time_limit(int descriptor, short events);

/// The turn of an operation that waits for descriptors. Returns 0 when the kernel can be called,
/// -EINTR when a signal came, -EAGAIN when the time limit was met.
int descriptor_arrive(Session& session, const Operation& operation, OutsideEvent& event,
                      std::int64_t time_limit);

/// Any of the descriptors is ready, or wrong.
bool descriptors_ready(const OutsideEvent& event);

/// Whether something outside the program is among what is waited for.
bool any_is_outside(const Session& session, const OutsideEvent& event);

/// Runs the handlers of what interrupted the current operation; true if the operation goes on then.
bool descriptor_restart(Session& session);

/// The turn of an operation that waits for descriptors, and its result: what `call` says, or what
/// the recording does.
template <typename Call>
long descriptor_ask(Session& session, const Operation& operation, OutsideEvent& event,
                    std::int64_t time_limit, const Question& question, Call call) {
  const bool outside = question.call != kNoQuestion && any_is_outside(session, event);
  if (outside && session.told().active()) {
    told_arrive(session, operation);
    return told_result(session, question);
  }
  long result = descriptor_arrive(session, operation, event, time_limit);
  // Recorded up to its arrival, and told from there on.
  if (outside && session.told().active()) return told_result(session, question);
  if (result == 0) result = call();
  if (outside && session.notes_answers()) note_result(session, question, result);
  return result;
}

/// Calls `call` (the kernel, returning its result) when `descriptor` shows `events`.
template <typename Call>
long descriptor_call(Session& session, int descriptor, short events, std::int64_t time_limit,
                     abi::SiteId site, const Question& question, Call call) {
  const Operation operation = operation_on(nullptr, abi::EventKind::Descriptor, site);
  for (;;) {
    pollfd polled{descriptor, events, 0};
    OutsideEvent event{&descriptors_ready, &polled, 1};
    const long result = descriptor_ask(session, operation, event, time_limit, question, call);
    session.record(operation, 0, static_cast<std::uint64_t>(result),
                   static_cast<std::uint64_t>(descriptor));
    outside_refresh(session);
    if (result != -EINTR || !descriptor_restart(session)) return result;
  }
}

/// write and its kin: everything is written before it returns, as without O_NONBLOCK.
long descriptor_write(Session& session, int descriptor, const void* bytes, std::size_t count,
                      abi::SiteId site);
long descriptor_connect(Session& session, int descriptor, const void* address, unsigned length,
                        abi::SiteId site);
long descriptor_poll(Session& session, pollfd* descriptors, unsigned count, std::int64_t time_limit,
                     abi::SiteId site);

}  // namespace heddle::runtime
