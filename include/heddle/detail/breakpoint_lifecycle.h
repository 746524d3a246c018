// SPDX-License-Identifier: Apache-2.0
//
// Start, fork, exit.
#ifndef HEDDLE_DETAIL_BREAKPOINT_LIFECYCLE_H_
#define HEDDLE_DETAIL_BREAKPOINT_LIFECYCLE_H_

#include <stdlib.h>

#include "breakpoint_base.h"
#include "breakpoint_options.h"
#include "breakpoint_report.h"
#include "breakpoint_wait.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Locks from outside the engine, and says whether it did: a signal handler may have interrupted
/// the thread that holds the lock.
HEDDLE_BP_SHARED int heddle_bp_enter_locked(void) {
  if (heddle_bp_where == HEDDLE_BP_LOCKED) return 0;
  heddle_bp_where = HEDDLE_BP_INSIDE;  // before the lock: a signal handler may come in between
  heddle_bp_lock();
  return 1;
}
HEDDLE_BP_SHARED void heddle_bp_leave_locked(void) {
  heddle_bp_unlock();
  heddle_bp_where = HEDDLE_BP_OUTSIDE;
}

/// Switches all breakpoints on or off; off ends the pauses under way.
HEDDLE_BP_ENTRY void heddle_bp_enable(int on) {
  __atomic_exchange_n(&heddle_bp_state, on, __ATOMIC_RELEASE);
  if (on || !heddle_bp_enter_locked()) return;
  heddle_bp_dismiss_all();
  heddle_bp_leave_locked();
}

/// The process exits: nobody will come any more.
HEDDLE_BP_SHARED void heddle_bp_end_pauses(void) {
  heddle_bp_enable(0);
}

/// Called when a thread is about to be postponed. Handlers run in the opposite order of their
/// registration, and a static object's destructor may join a postponed thread: one registered this
/// late runs before the destructors of all objects that are older than the first pause.
HEDDLE_BP_SHARED void heddle_bp_watch_exit(void) {
  static int watching = 0;
  if (__atomic_load_n(&watching, __ATOMIC_RELAXED)) return;
  if (!__atomic_exchange_n(&watching, 1, __ATOMIC_RELAXED)) atexit(heddle_bp_end_pauses);
}

/// The report, as the last thing.
HEDDLE_BP_SHARED void heddle_bp_at_exit(void) {
  heddle_bp_enable(0);
  if (heddle_bp_engine.defaults.report == HEDDLE_BP_REPORT_NONE || !heddle_bp_enter_locked())
    return;
  heddle_bp_report((enum heddle_bp_report_format)heddle_bp_engine.defaults.report);
  heddle_bp_leave_locked();
}

// A child has only the thread that forked: nobody is postponed there, and it counts from zero.
// The lock is held across the fork, so that the child's copy is consistent and its own. (vfork and
// _Fork run no handlers; their children must not reach a breakpoint.)

HEDDLE_BP_THREAD int heddle_bp_fork_locked;
HEDDLE_BP_THREAD int heddle_bp_fork_where;
HEDDLE_BP_THREAD int heddle_bp_fork_controlled;

HEDDLE_BP_SHARED void heddle_bp_before_fork(void) {
  heddle_bp_fork_where = heddle_bp_where;
  heddle_bp_fork_controlled = heddle_bp_controlled();
  heddle_bp_fork_locked = heddle_bp_enter_locked();
}
HEDDLE_BP_SHARED void heddle_bp_after_fork(void) {
  // A child is not controlled even if its parent is, and then has no lock to let go of.
  if (heddle_bp_fork_locked && !heddle_bp_fork_controlled) heddle_bp_unlock();
  heddle_bp_where = heddle_bp_fork_where;
}
HEDDLE_BP_SHARED void heddle_bp_in_child(void) {
  heddle_bp_engine.waiters = 0;
  for (unsigned i = 0; i < HEDDLE_BP_MAX_BREAKPOINTS; ++i) {
    struct heddle_bp* breakpoint = &heddle_bp_engine.breakpoints[i];
    memset(breakpoint->counts, 0, sizeof breakpoint->counts);
    memset(breakpoint->side_arrivals, 0, sizeof breakpoint->side_arrivals);
  }
  heddle_bp_after_fork();
}

/// Reads HEDDLE_BREAKPOINTS, once. A constructor calls it before there are threads; a breakpoint in
/// an earlier constructor comes here on its own.
HEDDLE_BP_SHARED void heddle_bp_initialise(void) {
  if (!heddle_bp_enter_locked()) return;
  int first = !heddle_bp_engine.initialised;
  heddle_bp_engine.initialised = 1;
  int enabled = 1;
  if (first) {
    heddle_bp_parse_options(getenv("HEDDLE_BREAKPOINTS"), &enabled);
    __atomic_exchange_n(&heddle_bp_state, enabled, __ATOMIC_RELEASE);
  }
  heddle_bp_leave_locked();
  if (first) {
    atexit(heddle_bp_at_exit);
    pthread_atfork(heddle_bp_before_fork, heddle_bp_after_fork, heddle_bp_in_child);
  }
}

__attribute__((constructor)) static void heddle_bp_construct(void) {
  heddle_bp_initialise();
}

/// Changes defaults from inside the program; call it before other threads reach breakpoints.
/// Returns false if something in the text was not understood.
HEDDLE_BP_ENTRY int heddle_bp_configure(const char* options) {
  heddle_bp_initialise();
  int enabled = __atomic_load_n(&heddle_bp_state, __ATOMIC_RELAXED);
  int understood = heddle_bp_parse_options(options, &enabled);
  heddle_bp_enable(enabled);
  return understood;
}

#ifdef __cplusplus
}
#endif

#endif  // HEDDLE_DETAIL_BREAKPOINT_LIFECYCLE_H_
