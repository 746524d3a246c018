// SPDX-License-Identifier: Apache-2.0
//
// Concurrent breakpoints (include/heddle/breakpoint.h) in a controlled run: a side that waits for
// its partner is a thread that cannot go on, so the hit costs no time and does not depend on luck.
// Who meets whom is the header's business; what is done here is told in
// include/heddle/detail/breakpoint_hooks.h.
#pragma once

#include "runtime/session/session.h"

namespace heddle::runtime {

struct BreakpointSide {
  const void* breakpoint;
  unsigned side;
  unsigned sides;
};

/// Postpones the current thread until breakpoint_resume(token), which may have come before; false
/// if nobody else could go on, or others went on for very long without coming.
bool breakpoint_pause(Session& session, const BreakpointSide& side, const void* token,
                      abi::SiteId site);
void breakpoint_resume(Session& session, const void* token);
/// Lets `leader` do one operation more than it had done when it resumed the current thread.
void breakpoint_follow(Session& session, const void* breakpoint, unsigned long leader,
                       abi::SiteId site);

}  // namespace heddle::runtime
