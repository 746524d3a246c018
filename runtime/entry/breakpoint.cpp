// SPDX-License-Identifier: Apache-2.0
//
// What include/heddle/detail/breakpoint_hooks.h asks for. Programs refer to these weakly: natively
// they are not there, and the header does its own waiting.
#include "runtime/sync/breakpoint.h"

#include "runtime/entry/entry.h"

using namespace heddle::runtime;

// Where threads really run in parallel the header's own waiting is the right one.
HEDDLE_ENTRY int __heddle_breakpoint_controls() {
  return session().one_at_a_time() ? 1 : 0;
}

HEDDLE_ENTRY int __heddle_breakpoint_arrive(const void* breakpoint, unsigned side, unsigned sides,
                                            const void* token) {
  const Gate gate;
  if (!gate) return 0;
  return breakpoint_pause(session(), {breakpoint, side, sides}, token, call_site()) ? 1 : 0;
}

HEDDLE_ENTRY void __heddle_breakpoint_resume(const void* token) {
  const Gate gate;
  if (gate) breakpoint_resume(session(), token);
}

HEDDLE_ENTRY void __heddle_breakpoint_follow(const void* breakpoint, unsigned long leader) {
  const Gate gate;
  if (gate) breakpoint_follow(session(), breakpoint, leader, call_site());
}
