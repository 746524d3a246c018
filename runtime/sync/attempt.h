// SPDX-License-Identifier: Apache-2.0
//
// Calls that wait in the kernel for something that has no descriptor to poll: file locks, System V
// semaphores and queues. The kernel is asked not to wait; where it would have had to, the thread is
// held up until another attempt may do better, and the others go on.
#pragma once

#include "runtime/sync/cancellation.h"
#include "runtime/sync/descriptor.h"

namespace heddle::runtime {

/// Makes `call` (the kernel, returning its result) until it does not answer `busy`. `event` says
/// when to try again; kNoTimeLimit, 0: not at all, or a time limit: then the answer stays `busy`.
template <typename Call>
long attempt_until_done(Session& session, OutsideEvent& event, std::int64_t time_limit, long busy,
                        abi::SiteId site, Call call) {
  const Operation operation = operation_on(nullptr, abi::EventKind::Descriptor, site);
  bool first = true;
  for (;;) {
    // The first attempt may change something even if it fails: flock gives up what it had.
    const bool waits = !first && time_limit != 0;
    long result = descriptor_arrive(session, operation, event, waits ? time_limit : 0);
    if (first && time_limit != 0) cancellation_act(session, site);
    const bool too_late = waits && result == -EAGAIN;
    if (result == 0) result = call();
    session.record(operation, 0, static_cast<std::uint64_t>(result),
                   static_cast<std::uint64_t>(event.subject[0]));
    outside_refresh(session);
    first = false;
    if (result == -EINTR && descriptor_restart(session)) continue;
    if (too_late) return busy;
    if (result != busy || time_limit == 0) return result;
  }
}

}  // namespace heddle::runtime
