// SPDX-License-Identifier: Apache-2.0
//
// The engine's entry: a thread arrives at a breakpoint.
//
// In order of cost: a disabled breakpoint reads one word; one that does not match (local predicate,
// scope, ignore_first, bound) touches atomics only; the lock is taken when the thread is about to
// be postponed or to meet a postponed one.
#ifndef HEDDLE_DETAIL_BREAKPOINT_ENGINE_H_
#define HEDDLE_DETAIL_BREAKPOINT_ENGINE_H_

#include "breakpoint_base.h"
#include "breakpoint_hooks.h"
#include "breakpoint_lifecycle.h"
#include "breakpoint_match.h"
#include "breakpoint_registry.h"
#include "breakpoint_report.h"
#include "breakpoint_wait.h"

#ifdef __cplusplus
extern "C" {
#endif

static inline int heddle_bp_enabled(void) {
  return __builtin_expect(__atomic_load_n(&heddle_bp_state, __ATOMIC_RELAXED) != 0, 0);
}

/// A time of a call in microseconds: its own, or the default if it has none.
static inline int64_t heddle_bp_choose_us(double call_ms, int64_t default_us) {
  if (call_ms == 0) return default_us;
  return call_ms < 0 ? 0 : (int64_t)(call_ms * 1000);
}

static inline uint64_t heddle_bp_bound_of(const struct heddle_bp_arrival* arrival) {
  return arrival->bound ? arrival->bound : (uint64_t)heddle_bp_engine.defaults.bound;
}

/// The local part of the predicate, apart from what the breakpoint itself counts.
HEDDLE_BP_SHARED int heddle_bp_local_holds(const struct heddle_bp_arrival* arrival, int* failed) {
  if ((arrival->holding || arrival->holding_tag) &&
      !heddle_bp_in_scope(arrival->holding, arrival->holding_tag, 1)) {
    return 0;
  }
  if (arrival->context && !heddle_bp_in_scope(0, arrival->context, 0)) return 0;
  if (!arrival->local) return 1;
  int holds = arrival->local(arrival->local_arg);
  *failed = holds < 0;
  return holds > 0;
}

/// The breakpoint if this call may be postponed at it, else null. Takes no lock unless the name is
/// new.
HEDDLE_BP_SHARED struct heddle_bp* heddle_bp_admit(const struct heddle_bp_arrival* arrival,
                                                   unsigned sides, unsigned state_size,
                                                   const char* type) {
  int failed = 0;
  int local = heddle_bp_local_holds(arrival, &failed);
  if (!local && !failed) return 0;
  struct heddle_bp* breakpoint = heddle_bp_find(arrival->name);
  if (!breakpoint) return 0;
  if (failed) {
    heddle_bp_add(&breakpoint->counts[HEDDLE_BP_ERRORS], 1);
    return 0;
  }
  if (sides < 2 || sides > HEDDLE_BP_MAX_SIDES || state_size > HEDDLE_BP_MAX_STATE ||
      (arrival->side >= sides && arrival->side != HEDDLE_BP_ANY_SIDE)) {
    heddle_bp_complain(breakpoint, arrival->name,
                       "has a side, a number of sides or a state that is "
                       "out of range; this call passes");
    return 0;
  }
  if (!heddle_bp_agrees(breakpoint, sides, state_size, type)) {
    heddle_bp_complain(breakpoint, arrival->name,
                       "is used with different numbers of sides or different types; the calls that "
                       "disagree with the first pass");
    return 0;
  }
  const struct heddle_bp_defaults* defaults = &heddle_bp_engine.defaults;
  uint64_t ignore =
      arrival->ignore_first ? arrival->ignore_first : (uint64_t)defaults->ignore_first;
  uint64_t bound = heddle_bp_bound_of(arrival);
  uint64_t give_up = arrival->give_up ? arrival->give_up : (uint64_t)defaults->give_up;
  uint64_t hits = heddle_bp_read(&breakpoint->counts[HEDDLE_BP_HITS]);
  if (bound && hits >= bound) return 0;
  if (give_up && !hits &&
      heddle_bp_read(&breakpoint->counts[HEDDLE_BP_TIMEOUTS]) +
              heddle_bp_read(&breakpoint->counts[HEDDLE_BP_ABANDONED]) >=
          give_up) {
    return 0;
  }
  // Counting comes after this: a breakpoint that is over must not cost the threads of a tight loop
  // a cache line they fight for.
  unsigned counter =
      arrival->side == HEDDLE_BP_ANY_SIDE ? (unsigned)HEDDLE_BP_MAX_SIDES : arrival->side;
  uint64_t earlier = __atomic_fetch_add(&breakpoint->side_arrivals[counter], 1, __ATOMIC_RELAXED);
  heddle_bp_add(&breakpoint->counts[HEDDLE_BP_ARRIVALS], 1);
  if (earlier < ignore ||
      (arrival->after && heddle_bp_count_of(arrival->after, HEDDLE_BP_HITS) == 0)) {
    heddle_bp_add(&breakpoint->counts[HEDDLE_BP_IGNORED], 1);
    return 0;
  }
  return breakpoint;
}

/// Waits for the other sides. Returns whether the breakpoint was hit, with `self` in the hit. The
/// lock is held.
HEDDLE_BP_SHARED int heddle_bp_postpone(const struct heddle_bp_arrival* arrival,
                                        struct heddle_bp_search* search,
                                        struct heddle_bp_waiter* self) {
  struct heddle_bp* breakpoint = self->breakpoint;
  int64_t pause_us = heddle_bp_choose_us(arrival->pause_ms, heddle_bp_engine.defaults.pause_us);
  uint64_t hits = heddle_bp_read(&breakpoint->counts[HEDDLE_BP_HITS]);
  if (self->bound && hits >= self->bound) {  // others were quicker
    heddle_bp_add(&breakpoint->counts[HEDDLE_BP_IGNORED], 1);
    return 0;
  }
  if (heddle_bp_meet(search, self)) {
    heddle_bp_add(&breakpoint->counts[HEDDLE_BP_HITS], 1);
    heddle_bp_dismiss_bounded(breakpoint, heddle_bp_read(&breakpoint->counts[HEDDLE_BP_HITS]));
    if (heddle_bp_engine.defaults.verbose) heddle_bp_say("breakpoint '%s' hit\n", breakpoint->name);
    return 1;
  }
  if (!heddle_bp_enabled()) return 0;  // switched off since we came
  if (search->count > HEDDLE_BP_MAX_POSTPONED) {
    heddle_bp_complain(breakpoint, breakpoint->name, "has too many threads postponed; this passes");
    return 0;
  }
  heddle_bp_enlist(self);
  enum heddle_bp_wait_end end = heddle_bp_wait(self, &self->met, pause_us);
  if (self->met) return 1;  // also at the last moment: the other side already counts on us
  heddle_bp_add(
      &breakpoint->counts[end == HEDDLE_BP_TIMED_OUT ? HEDDLE_BP_TIMEOUTS : HEDDLE_BP_ABANDONED],
      1);
  return 0;
}

/// After the hit: waits for the turn of this side. Returns false if it could not wait to the end.
/// The lock is held.
HEDDLE_BP_SHARED int heddle_bp_take_turn(const struct heddle_bp_arrival* arrival,
                                         struct heddle_bp_waiter* self) {
  const struct heddle_bp_defaults* defaults = &heddle_bp_engine.defaults;
  // The leader does come, so a call that did not want to wait for a partner still waits for it.
  int64_t pause_us = heddle_bp_choose_us(arrival->pause_ms, defaults->pause_us);
  if (pause_us < defaults->pause_us) pause_us = defaults->pause_us;
  heddle_bp_wait(self, &self->turn, pause_us);
  if (self->turn == HEDDLE_BP_LEADER_LEFT) {
    heddle_bp_follow(self, self->leader,
                     heddle_bp_choose_us(arrival->order_ms, defaults->order_us));
  }
  if (self->turn != HEDDLE_BP_NOT_YET) return 1;
  heddle_bp_add(&self->breakpoint->counts[HEDDLE_BP_DISORDERS], 1);
  return 0;
}

HEDDLE_BP_SHARED int heddle_bp_arrive_admitted(const struct heddle_bp_arrival* arrival,
                                               struct heddle_bp* breakpoint, unsigned sides,
                                               const void* state, unsigned state_size) {
  struct heddle_bp_search search;
  struct heddle_bp_waiter self;
  heddle_bp_waiter_begin(&self, breakpoint);
  self.side = arrival->side;
  self.sides = sides;
  self.bound = heddle_bp_bound_of(arrival);
  memcpy(self.state, state, state_size);
  search.arrival = arrival;
  search.sides = sides;
  search.errors = 0;
  search.candidates[0].ticket = 0;
  search.candidates[0].side = arrival->side;
  memcpy(search.candidates[0].state, self.state, sizeof self.state);

  heddle_bp_watch_exit();
  uint64_t begin = heddle_bp_controlled() ? 0 : heddle_bp_now_ns();
  heddle_bp_lock();
  ++heddle_bp_engine.changes;
  heddle_bp_leader_moves();
  int hit = heddle_bp_postpone(arrival, &search, &self);
  if (hit) {
    hit = heddle_bp_take_turn(arrival, &self);
    if (arrival->turn) {
      arrival->turn->group = self.group;
      arrival->turn->side = self.side;
    } else {
      heddle_bp_hand_over(self.group, self.side, HEDDLE_BP_LEADER_LEFT);
    }
  }
  heddle_bp_delist(&self);
  heddle_bp_unlock();
  heddle_bp_add(&breakpoint->counts[HEDDLE_BP_ERRORS], (uint64_t)search.errors);
  if (begin) heddle_bp_add(&breakpoint->counts[HEDDLE_BP_PAUSED_NS], heddle_bp_now_ns() - begin);
  return hit;
}

/// What the engine keeps of a thread while it is inside.
struct heddle_bp_visit {
  int saved_errno;
  int uncancellable;
  int cancel_state;
};

/// Every way into the engine from the program leads through here. False: pass at once.
HEDDLE_BP_SHARED int heddle_bp_enter(struct heddle_bp_visit* visit) {
  if (!heddle_bp_enabled() || heddle_bp_where != HEDDLE_BP_OUTSIDE) return 0;
  if (__atomic_load_n(&heddle_bp_state, __ATOMIC_ACQUIRE) == 2) {
    heddle_bp_initialise();
    if (!heddle_bp_enabled()) return 0;
  }
  heddle_bp_where = HEDDLE_BP_INSIDE;
  visit->saved_errno = errno;
  visit->uncancellable = 0;
  return 1;
}

/// A breakpoint must not be a cancellation point where the program had none, and a predicate that
/// is one must not unwind through us: a cancellation waits until the pause is over. On its own
/// because it is not free.
HEDDLE_BP_SHARED void heddle_bp_defer_cancellation(struct heddle_bp_visit* visit) {
  if (visit->uncancellable) return;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &visit->cancel_state);
  visit->uncancellable = 1;
}

HEDDLE_BP_SHARED void heddle_bp_leave(const struct heddle_bp_visit* visit) {
  int ignored;
  if (visit->uncancellable) pthread_setcancelstate(visit->cancel_state, &ignored);
  errno = visit->saved_errno;
  heddle_bp_where = HEDDLE_BP_OUTSIDE;
}

/// A thread is at one side of a breakpoint. Returns 1 if the breakpoint was hit.
HEDDLE_BP_ENTRY int heddle_bp_arrive(const struct heddle_bp_arrival* arrival) {
  struct heddle_bp_visit visit;
  if (!arrival->name || !heddle_bp_enter(&visit)) return 0;
  struct heddle_bp_objects objects;
  objects.object = arrival->object;
  objects.wanted = arrival->wanted;
  const void* state = arrival->state ? arrival->state : &objects;
  unsigned state_size = arrival->state ? arrival->state_size : (unsigned)sizeof objects;
  unsigned sides = arrival->sides ? arrival->sides : 2;
  const char* type = arrival->type ? arrival->type : "";

  if (arrival->local) heddle_bp_defer_cancellation(&visit);
  struct heddle_bp* breakpoint = heddle_bp_admit(arrival, sides, state_size, type);
  if (breakpoint) heddle_bp_defer_cancellation(&visit);
  int hit = breakpoint && heddle_bp_arrive_admitted(arrival, breakpoint, sides, state, state_size);
  heddle_bp_leave(&visit);
  return hit;
}

/// The action of this side is over: the next side goes on.
HEDDLE_BP_ENTRY void heddle_bp_end_turn(struct heddle_bp_turn* turn) {
  if (!turn->group) return;
  if (heddle_bp_enter_locked()) {
    heddle_bp_hand_over(turn->group, turn->side, HEDDLE_BP_LEADER_ENDED);
    heddle_bp_leave_locked();
  }
  turn->group = 0;
}

#ifdef __cplusplus
}
#endif

#endif  // HEDDLE_DETAIL_BREAKPOINT_ENGINE_H_
