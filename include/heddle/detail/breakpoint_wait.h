// SPDX-License-Identifier: Apache-2.0
//
// Postponing a thread: natively on a futex of its own with a deadline, under control of the Heddle
// runtime by its hooks. Not on a condition variable, because inside glibc's own Helgrind reports
// the library's signalling; all data are under the lock anyway, so the futex need only wake. Every
// function here is called with the lock held.
#ifndef HEDDLE_DETAIL_BREAKPOINT_WAIT_H_
#define HEDDLE_DETAIL_BREAKPOINT_WAIT_H_

#include "breakpoint_base.h"
#include "breakpoint_hooks.h"
#include "breakpoint_liveness.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HEDDLE_BP_FUTEX_WAIT = 128, HEDDLE_BP_FUTEX_WAKE = 129 };  // private to the process

enum heddle_bp_wait_end { HEDDLE_BP_WOKEN, HEDDLE_BP_TIMED_OUT, HEDDLE_BP_NOBODY_COMES };

HEDDLE_BP_SHARED void heddle_bp_wake(struct heddle_bp_waiter* waiter) {
  ++heddle_bp_engine.changes;
  if (heddle_bp_controlled()) {
    __heddle_breakpoint_resume(waiter);
  } else {
    __atomic_fetch_add(&waiter->wakes, 1, __ATOMIC_RELAXED);
    syscall(SYS_futex, &waiter->wakes, HEDDLE_BP_FUTEX_WAKE, 1, 0, 0, 0);
  }
}

HEDDLE_BP_SHARED void heddle_bp_enlist(struct heddle_bp_waiter* waiter) {
  struct heddle_bp_waiter** at = &heddle_bp_engine.waiters;
  while (*at) at = &(*at)->next;
  *at = waiter;
  waiter->next = 0;
  waiter->ticket = ++heddle_bp_engine.tickets;
  ++heddle_bp_engine.changes;
}

/// By search: after a fork the list is empty, and a waiter may look for itself in vain.
HEDDLE_BP_SHARED void heddle_bp_delist(struct heddle_bp_waiter* waiter) {
  struct heddle_bp_waiter** at = &heddle_bp_engine.waiters;
  while (*at && *at != waiter) at = &(*at)->next;
  if (*at) *at = waiter->next;
  ++heddle_bp_engine.changes;
}

HEDDLE_BP_SHARED void heddle_bp_waiter_begin(struct heddle_bp_waiter* waiter,
                                             struct heddle_bp* breakpoint) {
  memset(waiter, 0, sizeof *waiter);
  waiter->breakpoint = breakpoint;
  waiter->tid = syscall(SYS_gettid);
}

HEDDLE_BP_SHARED void heddle_bp_sleep_until(struct heddle_bp_waiter* waiter, uint64_t deadline) {
  uint32_t wakes = __atomic_load_n(&waiter->wakes, __ATOMIC_RELAXED);
  uint64_t now = heddle_bp_now_ns();
  if (now >= deadline) return;
  struct timespec left;
  left.tv_sec = (time_t)((deadline - now) / 1000000000u);
  left.tv_nsec = (long)((deadline - now) % 1000000000u);
  heddle_bp_unlock();
  syscall(SYS_futex, &waiter->wakes, HEDDLE_BP_FUTEX_WAIT, wakes, &left, 0, 0);
  heddle_bp_lock();
}

/// Whether this waiter should stop waiting because no thread is left that could come. Nothing can
/// happen then until the first deadline, so the waiter it belongs to does not wait for it: what
/// follows is what would have followed, only sooner. It may well come as the others' partner.
HEDDLE_BP_SHARED int heddle_bp_nobody_comes(struct heddle_bp_waiter* waiter) {
  if (!heddle_bp_engine.defaults.early_end) return 0;
  for (const struct heddle_bp_waiter* w = heddle_bp_engine.waiters; w; w = w->next) {
    if (w->deadline < waiter->deadline) return 0;
  }
  long postponed[HEDDLE_BP_MAX_THREADS];
  unsigned count = 0;
  for (const struct heddle_bp_waiter* w = heddle_bp_engine.waiters; w; w = w->next) {
    // One whose turn has come goes on without us.
    if (w->turn != HEDDLE_BP_NOT_YET || w->dismissed || count == HEDDLE_BP_MAX_THREADS) return 0;
    postponed[count++] = w->tid;
  }
  uint64_t changes = heddle_bp_engine.changes;
  heddle_bp_unlock();
  int stuck = heddle_bp_all_others_stuck(postponed, count);
  heddle_bp_lock();
  // A thread that waits for our own lock looks stuck and is not.
  return stuck && changes == heddle_bp_engine.changes &&
         heddle_bp_read(&heddle_bp_engine.entering) == 0;
}

/// Waits until `*flag` is set, the waiter is dismissed, the time is over or nobody can come.
HEDDLE_BP_SHARED enum heddle_bp_wait_end heddle_bp_wait(struct heddle_bp_waiter* waiter,
                                                        const int* flag, int64_t pause_us) {
  if (heddle_bp_controlled()) {
    // No time passes, but a call that does not want to wait does not.
    while (!*flag && !waiter->dismissed) {
      if (pause_us <= 0) return HEDDLE_BP_TIMED_OUT;
      heddle_bp_unlock();
      int resumed =
          __heddle_breakpoint_arrive(waiter->breakpoint, waiter->side, waiter->sides, waiter);
      heddle_bp_lock();
      if (!resumed && !*flag) return HEDDLE_BP_NOBODY_COMES;
    }
    return *flag ? HEDDLE_BP_WOKEN : HEDDLE_BP_NOBODY_COMES;
  }
  // Looking at all threads costs some microseconds each, so ever more seldom.
  const uint64_t kFirstLook = 1000000, kSeldom = 16000000;
  uint64_t now = heddle_bp_now_ns();
  uint64_t deadline = now + (uint64_t)pause_us * 1000u;
  waiter->deadline = deadline;
  uint64_t look = kFirstLook;
  while (!*flag && !waiter->dismissed) {
    if (now >= deadline) return HEDDLE_BP_TIMED_OUT;
    heddle_bp_sleep_until(waiter, now + look < deadline ? now + look : deadline);
    if (*flag || waiter->dismissed) break;
    if (heddle_bp_nobody_comes(waiter) && !*flag) return HEDDLE_BP_NOBODY_COMES;
    now = heddle_bp_now_ns();
    look = look * 2 < kSeldom ? look * 2 : kSeldom;
  }
  return *flag ? HEDDLE_BP_WOKEN : HEDDLE_BP_NOBODY_COMES;
}

/// Lets the leader go ahead by at least one instruction: it left, but no one can see how far it
/// got. Over when it reaches its next breakpoint.
HEDDLE_BP_SHARED void heddle_bp_follow(struct heddle_bp_waiter* waiter, unsigned long thread,
                                       int64_t order_us) {
  if (heddle_bp_controlled()) {
    heddle_bp_unlock();
    __heddle_breakpoint_follow(waiter->breakpoint, thread);
    heddle_bp_lock();
    return;
  }
  uint64_t deadline = heddle_bp_now_ns() + (uint64_t)order_us * 1000u;
  while (!waiter->leader_moved && !waiter->dismissed && heddle_bp_now_ns() < deadline) {
    heddle_bp_sleep_until(waiter, deadline);
  }
}

/// Called when a thread takes the lock: whoever follows it need wait no longer.
HEDDLE_BP_SHARED void heddle_bp_leader_moves(void) {
  if (!heddle_bp_engine.waiters) return;
  unsigned long self = (unsigned long)pthread_self();
  for (struct heddle_bp_waiter* w = heddle_bp_engine.waiters; w; w = w->next) {
    if (w->turn != HEDDLE_BP_LEADER_LEFT || w->leader != self) continue;
    w->leader_moved = 1;
    heddle_bp_wake(w);
  }
}

/// Ends the pauses at one breakpoint whose bound is reached: they wait in vain.
HEDDLE_BP_SHARED void heddle_bp_dismiss_bounded(const struct heddle_bp* breakpoint, uint64_t hits) {
  for (struct heddle_bp_waiter* w = heddle_bp_engine.waiters; w; w = w->next) {
    if (w->breakpoint != breakpoint || w->group || !w->bound || hits < w->bound) continue;
    w->dismissed = 1;
    heddle_bp_wake(w);
  }
}

/// Ends all pauses.
HEDDLE_BP_SHARED void heddle_bp_dismiss_all(void) {
  for (struct heddle_bp_waiter* w = heddle_bp_engine.waiters; w; w = w->next) {
    w->dismissed = 1;
    heddle_bp_wake(w);
  }
}

#ifdef __cplusplus
}
#endif

#endif  // HEDDLE_DETAIL_BREAKPOINT_WAIT_H_
