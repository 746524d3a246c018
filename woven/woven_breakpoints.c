// SPDX-License-Identifier: Apache-2.0
//
// What the `pinned` variant links into a program: reads the plan (abi/woven.h) and lets the engine
// of heddle/breakpoint.h do the rest. Part of somebody else's program: libc only, no names but its
// own, and nothing happens before the first place is reached.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/woven.h"
#include "heddle/breakpoint_c.h"

/// The plan the pass put into the program.
extern const char __heddle_woven_plan[] __attribute__((weak));
/// Linked in where the failure is a use of freed memory (freed_memory.c).
void __heddle_woven_check_freed(const void* address) __attribute__((weak));
const char* __heddle_woven_birth(void);    // thread_birth.c
int __heddle_woven_is_in(unsigned scope);  // scopes.c
void __heddle_woven_at(unsigned place, const void* address);
void __heddle_woven_woken(unsigned place, pthread_mutex_t* mutex);

enum { kNameLength = 64, kThreadLength = HEDDLE_WOVEN_THREAD, kSteps = 128 };

struct pinned_breakpoint {
  unsigned sides;
  double pause_ms;
  double order_ms;
  unsigned long bound;
  unsigned long give_up;
  char name[kNameLength];
};

struct step {
  unsigned place;
  unsigned breakpoint;
  int ends_turn;
  int side;
  unsigned long visit;
  unsigned long ignore_first;
  int has_turn;
  unsigned long bound;
  unsigned within;
  unsigned holding;
  char thread[kThreadLength];  // a dash: any
};

static struct pinned_breakpoint breakpoints[HEDDLE_WOVEN_BREAKPOINTS];
static unsigned breakpoint_count;
static struct step steps[kSteps];
static unsigned step_count;
static unsigned char is_used[HEDDLE_WOVEN_PLACES];
static struct heddle_woven_counts own_counts[HEDDLE_WOVEN_BREAKPOINTS];
static struct heddle_woven_counts* counts = own_counts;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static _Thread_local unsigned long visits[kSteps];
static _Thread_local struct heddle_bp_turn turns[HEDDLE_WOVEN_BREAKPOINTS];

static void read_line(const char* line) {
  struct pinned_breakpoint b;
  struct step s = {0};
  memset(&b, 0, sizeof b);
  if (sscanf(line, "breakpoint %u %lf %lf %lu %lu %63[^\n]", &b.sides, &b.pause_ms, &b.order_ms,
             &b.bound, &b.give_up, b.name) == 6) {
    if (breakpoint_count < HEDDLE_WOVEN_BREAKPOINTS) breakpoints[breakpoint_count++] = b;
    return;
  }
  if (sscanf(line, "arrive %u %u %d %lu %lu %d %lu %u %u %63s", &s.place, &s.breakpoint, &s.side,
             &s.visit, &s.ignore_first, &s.has_turn, &s.bound, &s.within, &s.holding,
             s.thread) != 10) {
    if (sscanf(line, "end %u %u", &s.place, &s.breakpoint) != 2) return;
    s.ends_turn = 1;
  }
  if (s.place >= HEDDLE_WOVEN_PLACES || s.breakpoint >= breakpoint_count || step_count == kSteps) {
    return;
  }
  steps[step_count++] = s;
  is_used[s.place] = 1;
}

static void read_plan(void) {
  const char* plan = getenv(HEDDLE_WOVEN_PLAN);
  if (!plan) plan = __heddle_woven_plan;
  while (plan && *plan) {
    read_line(plan);
    plan = strchr(plan, '\n');
    if (plan) ++plan;
  }
  const char* file = getenv(HEDDLE_WOVEN_COUNTS);
  const int fd = file ? open(file, O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void* shared = mmap(0, sizeof own_counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (shared != MAP_FAILED) counts = shared;
}

static int is_in(unsigned scope) {
  return scope >= HEDDLE_WOVEN_SCOPES || __heddle_woven_is_in(scope);
}

static void arrive(unsigned number, const struct step* s) {
  if (s->thread[0] != '-' && strcmp(s->thread, __heddle_woven_birth()) != 0) return;
  if (!is_in(s->within) || !is_in(s->holding)) return;
  if (s->visit && ++visits[number] != s->visit) return;
  const struct pinned_breakpoint* b = &breakpoints[s->breakpoint];
  struct heddle_woven_counts* count = &counts[s->breakpoint];
  const unsigned side = s->side < 0 ? HEDDLE_ANY : (unsigned)s->side;
  const unsigned column = s->side < 0 ? HEDDLE_WOVEN_SIDES : side;
  __atomic_fetch_add(&count->arrivals[column], 1, __ATOMIC_RELAXED);
  const struct heddle_bp_arrival arrival = {.name = b->name,
                                            .side = side,
                                            .sides = b->sides,
                                            .pause_ms = b->pause_ms,
                                            .order_ms = b->order_ms,
                                            .bound = s->bound ? s->bound : b->bound,
                                            .give_up = b->give_up,
                                            .ignore_first = s->ignore_first,
                                            .turn = s->has_turn ? &turns[s->breakpoint] : 0};
  if (heddle_bp_enabled() && heddle_bp_arrive(&arrival)) {
    __atomic_fetch_add(&count->hits, 1, __ATOMIC_RELAXED);
  }
  count->paused_ns = heddle_bp_count_of(b->name, HEDDLE_BP_PAUSED_NS);
}

void __heddle_woven_at(unsigned place, const void* address) {
  const int saved_errno = errno;
  pthread_once(&once, read_plan);
  if (place < HEDDLE_WOVEN_PLACES && is_used[place]) {
    // What is over here is over before anybody waits here for something else.
    for (unsigned i = 0; i < step_count; ++i) {
      if (steps[i].place == place && steps[i].ends_turn) {
        heddle_bp_end_turn(&turns[steps[i].breakpoint]);
      }
    }
    for (unsigned i = 0; i < step_count; ++i) {
      if (steps[i].place == place && !steps[i].ends_turn) arrive(i, &steps[i]);
    }
  }
  if (__heddle_woven_check_freed) __heddle_woven_check_freed(address);
  errno = saved_errno;
}

/// The thread comes back from a wait for a condition. Between its being woken and its having the
/// mutex again anybody may have had that: so it may be lent out for the time it spends here.
void __heddle_woven_woken(unsigned place, pthread_mutex_t* mutex) {
  pthread_once(&once, read_plan);
  if (place >= HEDDLE_WOVEN_PLACES || !is_used[place]) return;
  const int saved_errno = errno;
  if (pthread_mutex_unlock(mutex) == 0) {
    __heddle_woven_at(place, 0);
    pthread_mutex_lock(mutex);
  }
  errno = saved_errno;
}
