// SPDX-License-Identifier: Apache-2.0
//
// What callers of the engine fill in and hold: types only, no state and no code, so that a program
// without breakpoints (HEDDLE_NO_BREAKPOINTS) can still name them.
#ifndef HEDDLE_DETAIL_BREAKPOINT_TYPES_H_
#define HEDDLE_DETAIL_BREAKPOINT_TYPES_H_

#include <stdint.h>

enum {
  HEDDLE_BP_MAX_BREAKPOINTS = 128,  // names in one process; a power of two
  HEDDLE_BP_MAX_SIDES = 8,
  HEDDLE_BP_MAX_STATE = 64,      // bytes of local state a side can show to the global predicate
  HEDDLE_BP_MAX_POSTPONED = 32,  // threads postponed at one breakpoint at the same time
  HEDDLE_BP_MAX_NAME = 64,       // characters kept for the report; identity is the hash
};

#define HEDDLE_BP_ANY_SIDE (~0u)

/// What a breakpoint counts. The order is that of the report's columns.
enum heddle_bp_count {
  HEDDLE_BP_ARRIVALS,   // calls whose local predicate held, until bound or give_up ends counting
  HEDDLE_BP_IGNORED,    // of these: passed because of ignore_first or after
  HEDDLE_BP_HITS,       // times the breakpoint was reached, all sides together
  HEDDLE_BP_TIMEOUTS,   // pauses that ended because the pause time was over
  HEDDLE_BP_ABANDONED,  // pauses that ended early because no partner could come any more
  HEDDLE_BP_DISORDERS,  // sides that did not wait for their turn to the end
  HEDDLE_BP_ERRORS,     // predicates that threw
  HEDDLE_BP_REFUSED,    // calls with other sides or types than the first, or too many threads
  HEDDLE_BP_PAUSED_NS,  // time spent in pauses, all threads together
  HEDDLE_BP_COUNTS,
};

/// A side's own turn, for callers that say when their action is over.
struct heddle_bp_turn {
  uint64_t group;  // 0: nothing to end
  unsigned side;
};

/// One call at one side of a breakpoint. Zero means the default in every field but `side`.
struct heddle_bp_arrival {
  const char* name;
  unsigned side;       // 0 continues first; HEDDLE_BP_ANY_SIDE takes whichever is open
  unsigned sides;      // 0 means 2
  const void* object;  // what all sides must share: the object of the conflict
  const void* wanted;  // deadlock: `object` is held, `wanted` about to be locked

  // A state of the caller's own instead of object and wanted; copied, hence no pointer to unwind.
  const void* state;
  unsigned state_size;
  const char* type;  // sides that disagree about it do not meet

  // Predicates return 1 (true), 0 (false) or -1 (failed: counts as false). `states` has one entry
  // for each side, in the order of the sides.
  int (*local)(const void* arg);
  const void* local_arg;
  int (*global)(const void* const* states, const void* arg);
  const void* global_arg;

  // Refinements. Times in milliseconds: 0 is the default, negative is none.
  double pause_ms;
  double order_ms;  // how long the next side still waits once the one before it has left
  unsigned long ignore_first;
  unsigned long bound;    // hits after which the breakpoint is over
  unsigned long give_up;  // time-outs after which it is over if it was never hit
  const void* holding;    // only while this lock is held (see heddle_bp_scope)
  const char* holding_tag;
  const char* context;  // only inside this calling context
  const char* after;    // only once this other breakpoint was hit

  struct heddle_bp_turn* turn;  // the next side waits until heddle_bp_end_turn; else order_ms
};

/// Part of the calling thread's context: a lock it holds, or a calling context it is in.
/// The node belongs to the caller, usually a local variable.
struct heddle_bp_scope {
  struct heddle_bp_scope* next;
  const void* lock;
  const char* tag;
};

enum { HEDDLE_BP_MAX_POINTS = 64 };

/// The first three fields are the caller's, the others start as zero. Must outlive its points.
struct heddle_bp_schedule {
  const char* name;
  const char* const* points;  // a name that occurs twice is passed twice
  unsigned count;
  unsigned next;
  int broken;  // a point was passed out of order: from then on nobody waits
  double pause_ms;
  uint64_t taken;
};

#endif  // HEDDLE_DETAIL_BREAKPOINT_TYPES_H_
