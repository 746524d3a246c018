// SPDX-License-Identifier: Apache-2.0
//
// A schedule: named points of several threads, passed in one given order. This is the use the paper
// proposes in section 8, a unit test that exercises one chosen interleaving. Other than at a
// breakpoint a thread does not wait for those that come after it, so one thread may pass several
// points in a row.
#ifndef HEDDLE_DETAIL_BREAKPOINT_SCHEDULE_H_
#define HEDDLE_DETAIL_BREAKPOINT_SCHEDULE_H_

#include "breakpoint_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

HEDDLE_BP_SHARED void heddle_bp_schedule_break(struct heddle_bp_schedule* schedule) {
  schedule->broken = 1;
  for (struct heddle_bp_waiter* w = heddle_bp_engine.waiters; w; w = w->next) {
    if (w->schedule != schedule) continue;
    w->dismissed = 1;
    heddle_bp_wake(w);
  }
}

/// Waits until it is this point's turn; the lock is held.
HEDDLE_BP_SHARED void heddle_bp_schedule_wait(struct heddle_bp_schedule* schedule,
                                              struct heddle_bp* breakpoint, unsigned point) {
  struct heddle_bp_waiter self;
  heddle_bp_waiter_begin(&self, breakpoint);
  self.schedule = schedule;
  self.point = point;
  self.side = point;
  self.sides = schedule->count;
  heddle_bp_enlist(&self);
  uint64_t begin = heddle_bp_controlled() ? 0 : heddle_bp_now_ns();
  int64_t pause_us = heddle_bp_choose_us(schedule->pause_ms, heddle_bp_engine.defaults.pause_us);
  enum heddle_bp_wait_end end = heddle_bp_wait(&self, &self.met, pause_us);
  heddle_bp_delist(&self);
  if (!self.met && !schedule->broken) {
    heddle_bp_add(
        &breakpoint->counts[end == HEDDLE_BP_TIMED_OUT ? HEDDLE_BP_TIMEOUTS : HEDDLE_BP_ABANDONED],
        1);
    heddle_bp_schedule_break(schedule);
  }
  if (begin) heddle_bp_add(&breakpoint->counts[HEDDLE_BP_PAUSED_NS], heddle_bp_now_ns() - begin);
}

/// Waits until all earlier points were passed. Returns the number of the point for
/// heddle_bp_schedule_end, or -1 if the schedule does not (or no longer) name it.
HEDDLE_BP_ENTRY int heddle_bp_schedule_begin(struct heddle_bp_schedule* schedule,
                                             const char* point) {
  struct heddle_bp_visit visit;
  if (!heddle_bp_enter(&visit)) return -1;
  heddle_bp_defer_cancellation(&visit);
  heddle_bp_watch_exit();
  int found = -1;
  struct heddle_bp* breakpoint = heddle_bp_find(schedule->name);
  if (breakpoint && !heddle_bp_agrees(breakpoint, schedule->count, 0, "schedule")) {
    heddle_bp_complain(breakpoint, schedule->name, "and a schedule have the same name");
    breakpoint = 0;
  }
  heddle_bp_lock();
  ++heddle_bp_engine.changes;
  heddle_bp_leader_moves();
  for (unsigned i = 0; breakpoint && i < schedule->count && i < HEDDLE_BP_MAX_POINTS; ++i) {
    if ((schedule->taken >> i & 1) || strcmp(schedule->points[i], point) != 0) continue;
    schedule->taken |= (uint64_t)1 << i;
    heddle_bp_add(&breakpoint->counts[HEDDLE_BP_ARRIVALS], 1);
    if (schedule->next != i && !schedule->broken) heddle_bp_schedule_wait(schedule, breakpoint, i);
    found = (int)i;
    break;
  }
  heddle_bp_unlock();
  heddle_bp_leave(&visit);
  return found;
}

/// The point is passed: the next one's turn.
HEDDLE_BP_ENTRY void heddle_bp_schedule_end(struct heddle_bp_schedule* schedule, int point) {
  if (point < 0 || !heddle_bp_enter_locked()) return;
  if (!schedule->broken) {
    schedule->next = (unsigned)point + 1;
    if (schedule->next == schedule->count) {
      heddle_bp_add(&heddle_bp_find(schedule->name)->counts[HEDDLE_BP_HITS], 1);
    }
    for (struct heddle_bp_waiter* w = heddle_bp_engine.waiters; w; w = w->next) {
      if (w->schedule != schedule || w->point != schedule->next) continue;
      w->met = 1;
      w->turn = HEDDLE_BP_LEADER_ENDED;
      heddle_bp_wake(w);
    }
  }
  heddle_bp_leave_locked();
}

/// Whether all points were passed in order.
HEDDLE_BP_ENTRY int heddle_bp_schedule_followed(const struct heddle_bp_schedule* schedule) {
  if (!heddle_bp_enter_locked()) return 0;
  int followed = !schedule->broken && schedule->next == schedule->count;
  heddle_bp_leave_locked();
  return followed;
}

#ifdef __cplusplus
}
#endif

#endif  // HEDDLE_DETAIL_BREAKPOINT_SCHEDULE_H_
