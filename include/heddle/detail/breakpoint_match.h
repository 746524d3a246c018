// SPDX-License-Identifier: Apache-2.0
//
// Who meets whom: BTRIGGER's search of the postponed sets (Park and Sen, "Concurrent Breakpoints",
// section 3), for any number of sides.
//
// The paper evaluates the global predicate while both threads are held. Here the arriving thread
// copies the states of the postponed ones, evaluates without the lock, and then checks that those
// it chose are still there. States are hence small and trivially copyable.
#ifndef HEDDLE_DETAIL_BREAKPOINT_MATCH_H_
#define HEDDLE_DETAIL_BREAKPOINT_MATCH_H_

#include "breakpoint_base.h"
#include "breakpoint_wait.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The state of ready-made triggers.
struct heddle_bp_objects {
  const void* object;
  const void* wanted;
};

struct heddle_bp_candidate {
  uint64_t ticket;
  unsigned side;
  unsigned char state[HEDDLE_BP_MAX_STATE] __attribute__((aligned(16)));
};

/// One attempt to complete the breakpoint: candidate 0 is the arriving thread itself.
struct heddle_bp_search {
  const struct heddle_bp_arrival* arrival;
  unsigned sides;
  unsigned count;
  int errors;
  unsigned chosen[HEDDLE_BP_MAX_SIDES];  // index of the candidate for each side
  struct heddle_bp_candidate candidates[HEDDLE_BP_MAX_POSTPONED + 1];
};

/// Each side's object is the next one's; with `wanted`, what a side wants is what the next one
/// holds, which closes the circle of a deadlock.
HEDDLE_BP_SHARED int heddle_bp_objects_match(const void* const* states, unsigned sides) {
  for (unsigned i = 0; i < sides; ++i) {
    const struct heddle_bp_objects* here = (const struct heddle_bp_objects*)states[i];
    const struct heddle_bp_objects* next = (const struct heddle_bp_objects*)states[(i + 1) % sides];
    if ((here->wanted ? here->wanted : here->object) != next->object) return 0;
  }
  return 1;
}

HEDDLE_BP_SHARED int heddle_bp_holds(struct heddle_bp_search* search) {
  const void* states[HEDDLE_BP_MAX_SIDES];
  for (unsigned i = 0; i < search->sides; ++i) {
    states[i] = search->candidates[search->chosen[i]].state;
  }
  const struct heddle_bp_arrival* arrival = search->arrival;
  if (arrival->global) {
    int holds = arrival->global(states, arrival->global_arg);
    if (holds < 0) search->errors++;
    return holds > 0;
  }
  return arrival->state ? 1 : heddle_bp_objects_match(states, search->sides);
}

/// Fills the sides from `side` on. The thread that waits longest is tried first.
HEDDLE_BP_SHARED int heddle_bp_assign(struct heddle_bp_search* search, unsigned side,
                                      uint64_t used) {
  if (side == search->sides) return (used & 1) && heddle_bp_holds(search);
  for (unsigned k = 1; k <= search->count; ++k) {
    unsigned i = k % search->count;  // candidate 0, who just came, last
    const struct heddle_bp_candidate* candidate = &search->candidates[i];
    if (used & ((uint64_t)1 << i)) continue;
    if (candidate->side != side && candidate->side != HEDDLE_BP_ANY_SIDE) continue;
    search->chosen[side] = i;
    if (heddle_bp_assign(search, side + 1, used | ((uint64_t)1 << i))) return 1;
  }
  return 0;
}

HEDDLE_BP_SHARED struct heddle_bp_waiter* heddle_bp_by_ticket(uint64_t ticket) {
  struct heddle_bp_waiter* waiter = heddle_bp_engine.waiters;
  while (waiter && waiter->ticket != ticket) waiter = waiter->next;
  return waiter;
}

/// Copies who is postponed at this breakpoint. The lock is held.
HEDDLE_BP_SHARED void heddle_bp_look_around(struct heddle_bp_search* search,
                                            const struct heddle_bp* breakpoint) {
  search->count = 1;
  for (const struct heddle_bp_waiter* w = heddle_bp_engine.waiters; w; w = w->next) {
    if (w->breakpoint != breakpoint || w->schedule || w->group || w->dismissed) continue;
    if (search->count > HEDDLE_BP_MAX_POSTPONED) break;
    struct heddle_bp_candidate* candidate = &search->candidates[search->count++];
    candidate->ticket = w->ticket;
    candidate->side = w->side;
    memcpy(candidate->state, w->state, sizeof candidate->state);
  }
}

/// Makes `self` and those it found the sides of one hit, unless one of them has left meanwhile.
/// The lock is held.
HEDDLE_BP_SHARED int heddle_bp_join(const struct heddle_bp_search* search,
                                    struct heddle_bp_waiter* self) {
  struct heddle_bp_waiter* members[HEDDLE_BP_MAX_SIDES];
  for (unsigned side = 0; side < search->sides; ++side) {
    unsigned i = search->chosen[side];
    members[side] = i == 0 ? self : heddle_bp_by_ticket(search->candidates[i].ticket);
    if (!members[side] || members[side]->group || members[side]->dismissed) return 0;
  }
  uint64_t group = ++heddle_bp_engine.groups;
  heddle_bp_enlist(self);
  for (unsigned side = 0; side < search->sides; ++side) {
    members[side]->group = group;
    members[side]->side = side;
    members[side]->turn = side == 0 ? HEDDLE_BP_LEADER_ENDED : HEDDLE_BP_NOT_YET;
    members[side]->met = 1;
    if (members[side] != self) heddle_bp_wake(members[side]);
  }
  return 1;
}

/// Completes the breakpoint with threads that are postponed already: returns 1 with `self` in the
/// hit. Otherwise 0, and nobody came since we looked, so that it is safe to be postponed: of two
/// sides that arrive together one sees the other. The lock is held, but not all the time.
HEDDLE_BP_SHARED int heddle_bp_meet(struct heddle_bp_search* search,
                                    struct heddle_bp_waiter* self) {
  // Each further attempt means that another thread came or went; a limit keeps it finite.
  for (int attempt = 0; attempt < 16; ++attempt) {
    heddle_bp_look_around(search, self->breakpoint);
    if (search->count < search->sides) return 0;
    uint64_t newest = heddle_bp_engine.tickets;
    heddle_bp_unlock();
    int found = heddle_bp_assign(search, 0, 0);
    heddle_bp_lock();
    uint64_t hits = heddle_bp_read(&self->breakpoint->counts[HEDDLE_BP_HITS]);
    if (self->bound && hits >= self->bound) return 0;
    if (found && heddle_bp_join(search, self)) return 1;
    if (!found && newest == heddle_bp_engine.tickets) return 0;
  }
  return 0;
}

/// Gives the turn to the next side of the hit that is still there. The lock is held.
HEDDLE_BP_SHARED void heddle_bp_hand_over(uint64_t group, unsigned side,
                                          enum heddle_bp_turn_state how) {
  struct heddle_bp_waiter* next = 0;
  for (struct heddle_bp_waiter* w = heddle_bp_engine.waiters; w; w = w->next) {
    if (w->group == group && w->side > side && (!next || w->side < next->side)) next = w;
  }
  if (!next) return;
  next->turn = how;
  next->leader = (unsigned long)pthread_self();
  heddle_bp_wake(next);
}

#ifdef __cplusplus
}
#endif

#endif  // HEDDLE_DETAIL_BREAKPOINT_MATCH_H_
