// SPDX-License-Identifier: Apache-2.0
//
// The data of the breakpoint engine, shared by breakpoint.h (C++17) and breakpoint_c.h (C11).
// Everything in this directory is written in the common subset of both languages, so that one side
// of a breakpoint can be in a C file and the other in a C++ file: the definitions are `inline` in
// C++ and weak in C, and the linker keeps one of each.
//
// Two rules hold everywhere below:
//  - No user code runs, and nothing is allocated, while the engine's lock is held. A predicate that
//    blocks, throws or reaches another breakpoint can therefore harm nobody but its own thread.
//  - A word that is read without the lock is written by read-modify-write instructions only.
//    Helgrind knows no atomics and takes a plain store that others read for a race; a locked
//    instruction it takes for a read. For the same reason such words live in static memory, never
//    on the heap.
#ifndef HEDDLE_DETAIL_BREAKPOINT_BASE_H_
#define HEDDLE_DETAIL_BREAKPOINT_BASE_H_

#if !defined(__cplusplus) && defined(__STRICT_ANSI__) && !defined(_DEFAULT_SOURCE) && \
    !defined(_GNU_SOURCE)
#ifdef _FEATURES_H
#error "heddle/breakpoint_c.h under -std=c11: include it first, or define _DEFAULT_SOURCE"
#endif
#define _DEFAULT_SOURCE 1  // clock_gettime and syscall are not in C11
#endif

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "breakpoint_hooks.h"
#include "breakpoint_types.h"

#ifdef __cplusplus
#define HEDDLE_BP_SHARED inline __attribute__((visibility("default")))
#define HEDDLE_BP_THREAD inline __thread __attribute__((visibility("default")))
extern "C" {
#else
#define HEDDLE_BP_SHARED __attribute__((weak, visibility("default")))
#define HEDDLE_BP_THREAD _Thread_local __attribute__((weak, visibility("default")))
#endif
/// What the program calls. A function of its own, never a part of the caller's, where the accesses
/// of an instrumented program are scheduling points (breakpoint_hooks.h).
#define HEDDLE_BP_ENTRY HEDDLE_BP_SHARED __attribute__((noinline))

/// A breakpoint once its name was seen. Never removed.
struct heddle_bp {
  uint64_t key;        // hash of the name; 0: free
  uint64_t signature;  // hash of the type, state size, sides; 0: not yet said
  uint64_t counts[HEDDLE_BP_COUNTS];
  uint64_t side_arrivals[HEDDLE_BP_MAX_SIDES + 1];  // the last one for HEDDLE_BP_ANY_SIDE
  uint64_t complained;                              // its misuse was already told
  char name[HEDDLE_BP_MAX_NAME];                    // under the lock
};

/// A postponed thread; lives on that thread's stack and in the engine's list. Under the lock.
struct heddle_bp_waiter {
  struct heddle_bp_waiter* next;
  struct heddle_bp* breakpoint;
  const void* schedule;  // set while it waits for its point of a schedule instead
  unsigned point;
  uint64_t ticket;  // order of arrival, unique
  uint64_t group;   // the hit it takes part in; 0: none yet
  unsigned side;
  unsigned sides;
  uint64_t bound;     // 0: none
  int met;            // group is set
  int turn;           // enum heddle_bp_turn_state
  uint64_t deadline;  // when its pause is over, on the monotonic clock
  int dismissed;      // go on, nobody will come: process exits or breakpoints were switched off
  int leader_moved;
  long tid;
  unsigned long leader;  // its pthread_self()
  uint32_t wakes;        // the futex
  unsigned char state[HEDDLE_BP_MAX_STATE] __attribute__((aligned(16)));
};

/// What a side of a hit knows about the side before it.
enum heddle_bp_turn_state {
  HEDDLE_BP_NOT_YET,       // still before its action
  HEDDLE_BP_LEADER_LEFT,   // left the breakpoint; its next instruction is probably not over
  HEDDLE_BP_LEADER_ENDED,  // its action is over, or there is none before us
};

/// What HEDDLE_BREAKPOINTS sets. Read without the lock.
struct heddle_bp_defaults {
  int64_t pause_us;
  int64_t order_us;
  int64_t ignore_first;
  int64_t bound;
  int64_t give_up;
  int64_t early_end;  // end pauses when no other thread can run
  int64_t verbose;    // a line on stderr for each hit
  int64_t report;     // enum heddle_bp_report_format
};

enum heddle_bp_report_format {
  HEDDLE_BP_REPORT_NONE,
  HEDDLE_BP_REPORT_TEXT,
  HEDDLE_BP_REPORT_JSON
};

struct heddle_bp_engine {
  pthread_mutex_t lock;
  struct heddle_bp_waiter* waiters;  // oldest first
  uint64_t tickets;
  uint64_t groups;
  uint64_t
      changes;  // of the list or of somebody's turn: tells whether a look without lock is stale
  uint64_t entering;  // threads about to take the lock; read without it
  int initialised;
  struct heddle_bp_defaults defaults;
  char report_file[256];
  struct heddle_bp breakpoints[HEDDLE_BP_MAX_BREAKPOINTS];
};

HEDDLE_BP_SHARED struct heddle_bp_engine heddle_bp_engine = {
    PTHREAD_MUTEX_INITIALIZER, 0, 0, 0, 0, 0, 0, {100000, 5000, 0, 0, 0, 1, 0, 0}, {0},
    {{0, 0, {0}, {0}, 0, {0}}}};

/// 0 off, 1 on, 2 not initialised yet: the only word a disabled breakpoint looks at.
HEDDLE_BP_SHARED int heddle_bp_state = 2;

/// Where the calling thread is. A thread inside the engine passes every further breakpoint, which
/// makes predicates and signal handlers safe; see heddle_bp_lock for the third value.
enum { HEDDLE_BP_OUTSIDE, HEDDLE_BP_INSIDE, HEDDLE_BP_LOCKED };
HEDDLE_BP_THREAD int heddle_bp_where;
HEDDLE_BP_THREAD struct heddle_bp_scope* heddle_bp_scopes;

static inline uint64_t heddle_bp_read(const uint64_t* word) {
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}
static inline void heddle_bp_add(uint64_t* word, uint64_t n) {
  __atomic_fetch_add(word, n, __ATOMIC_RELAXED);
}

HEDDLE_BP_SHARED uint64_t heddle_bp_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/// The lock is taken with `where` raised, so that a fork out of a signal handler that interrupted
/// the holder can tell (breakpoint_lifecycle.h). Under control nobody else runs meanwhile.
HEDDLE_BP_SHARED void heddle_bp_lock(void) {
  if (!heddle_bp_controlled()) {
    heddle_bp_add(&heddle_bp_engine.entering, 1);
    pthread_mutex_lock(&heddle_bp_engine.lock);
    heddle_bp_add(&heddle_bp_engine.entering, ~(uint64_t)0);
  }
  heddle_bp_where = HEDDLE_BP_LOCKED;
}
HEDDLE_BP_SHARED void heddle_bp_unlock(void) {
  heddle_bp_where = HEDDLE_BP_INSIDE;
  if (!heddle_bp_controlled()) pthread_mutex_unlock(&heddle_bp_engine.lock);
}

#ifdef __cplusplus
}
#endif

#endif  // HEDDLE_DETAIL_BREAKPOINT_BASE_H_
