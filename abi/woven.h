// SPDX-License-Identifier: Apache-2.0
//
// Breakpoints woven into a program (the `pinned` variant): what crosses between the driver, the
// pass and the code in the program. C and C++.
//
// The driver gives the pass a file. Its lines, up to one that says "plan":
//
//   before|after SITE PLACE [CONDITION]   call __heddle_woven_at(PLACE, address) there
//   woken SITE PLACE                      SITE waits for a condition: behind it call
//                                         __heddle_woven_woken(PLACE, mutex), which lets go of the
//                                         mutex meanwhile, as if the thread had just been woken
//   function SITE SCOPE                   SITE is a function: where it begins call
//                                         __heddle_woven_enter(SCOPE, null), where it ends
//                                         __heddle_woven_leave(SCOPE, null)
//   takes SITE SCOPE                      SITE takes a lock: behind it call
//                                         __heddle_woven_take(SCOPE, lock), null if it failed
//   gives SITE 0                          SITE gives one back: before it call
//                                         __heddle_woven_give(0, lock)
//
// SITE is an id of the site table; several sites may be one place. CONDITION is an expression over
// what the program's source names there: the call is made only if it holds. What follows "plan"
// goes into the program as it is, and says what happens at each place:
//
//   breakpoint SIDES PAUSE_MS ORDER_MS BOUND GIVE_UP NAME
//   arrive PLACE BREAKPOINT SIDE VISIT IGNORE_FIRST TURN BOUND WITHIN HOLDING THREAD
//   end PLACE BREAKPOINT
//
// BREAKPOINT counts from 0; SIDE -1 is either. VISIT is the arrival of its thread that counts, 0:
// each. TURN 1: the side's action goes on to the `end` of that breakpoint in the same thread. BOUND
// 0: the breakpoint's. WITHIN and HOLDING are scopes the thread must be in: of a function, of a
// lock that it took there; HEDDLE_WOVEN_SCOPES: none. THREAD is the birth of the thread that is
// meant (t0.2), or a dash.
#ifndef HEDDLE_ABI_WOVEN_H_
#define HEDDLE_ABI_WOVEN_H_

#include <stdint.h>

/// The pass learns from it which file to weave.
#define HEDDLE_PASS_WEAVING "HEDDLE_PASS_WEAVING"
/// A plan in this variable replaces the woven one: pauses are tuned without linking again.
#define HEDDLE_WOVEN_PLAN "HEDDLE_WOVEN_PLAN"
/// A file of heddle_woven_counts[HEDDLE_WOVEN_BREAKPOINTS] that the program counts in: readable
/// however the program ends.
#define HEDDLE_WOVEN_COUNTS "HEDDLE_WOVEN_COUNTS"

enum { HEDDLE_WOVEN_BREAKPOINTS = 16, HEDDLE_WOVEN_SIDES = 8, HEDDLE_WOVEN_PLACES = 512 };
enum { HEDDLE_WOVEN_SCOPES = 64 };
enum { HEDDLE_WOVEN_THREAD = 64 };  // bytes of a thread's birth, with its end

struct heddle_woven_counts {
  uint64_t hits;
  uint64_t arrivals[HEDDLE_WOVEN_SIDES + 1];  // by side; the last: either
  uint64_t paused_ns;
};

#endif  // HEDDLE_ABI_WOVEN_H_
