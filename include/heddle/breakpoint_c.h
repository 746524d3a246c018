// SPDX-License-Identifier: Apache-2.0
//
// Concurrent breakpoints for C11; breakpoint.h is the same for C++17 and explains more.
// Header-only: include it in as many files as you like, link with -pthread, nothing else is needed.
// A breakpoint may have one side in C and the other in C++.
//
//   heddle_bp_conflict("stale length", HEDDLE_FIRST, sb);     // this thread goes on first
//   heddle_bp_conflict("stale length", HEDDLE_SECOND, sb);    // this one after it
//
// Each is an expression with the value 1 if the breakpoint was hit and 0 otherwise. Refinements of
// struct heddle_bp_arrival (detail/breakpoint_base.h) can follow by name:
//
//   heddle_bp_conflict("stale length", HEDDLE_SECOND, sb, .pause_ms = 500, .bound = 1);
//
// With HEDDLE_NO_BREAKPOINTS defined all of it compiles to nothing.
#ifndef HEDDLE_BREAKPOINT_C_H_
#define HEDDLE_BREAKPOINT_C_H_

#define HEDDLE_FIRST 0u
#define HEDDLE_SECOND 1u
#define HEDDLE_INTRUDER 0u     // of an atomicity breakpoint: the thread that interferes,
#define HEDDLE_INTERRUPTED 1u  // and the one in the middle of its block
#define HEDDLE_NOTIFIER 0u     // of a missed notification: the thread about to notify,
#define HEDDLE_WAITER 1u       // and the one that has checked and is about to wait
#define HEDDLE_ANY (~0u)       // the same line is both sides

#ifdef HEDDLE_NO_BREAKPOINTS
#include "detail/breakpoint_none_c.h"
#else
#include "detail/breakpoint_engine.h"
#include "detail/breakpoint_schedule.h"
#endif

#ifndef __cplusplus  // C++17 has no compound literals; it has breakpoint.h

// The general form: heddle_bp_at("name", side, .state = &s, .state_size = sizeof s, .type = "s",
// .local = …, .global = …).
#define heddle_bp_at(name_, ...) \
  (heddle_bp_enabled() ? heddle_bp_arrive(heddle_bp_call(name_, __VA_ARGS__)) : 0)

#define heddle_bp_call(name_, ...) \
  (&(struct heddle_bp_arrival){.name = (name_), .side = __VA_ARGS__})

/// All sides are about to use the same object.
#define heddle_bp_conflict(name_, side_, ...) \
  heddle_bp_at(name_, side_, .type = "conflict", .object = __VA_ARGS__)

/// Each side holds the lock that the next one wants: (name, side, held, wanted, …).
#define heddle_bp_deadlock(name_, side_, held_, ...) \
  heddle_bp_at(name_, side_, .type = "deadlock", .object = (held_), .wanted = __VA_ARGS__)

/// The intruder acts while the interrupted thread is in the middle of a block on the same object.
#define heddle_bp_atomicity(name_, side_, ...) \
  heddle_bp_at(name_, side_, .type = "atomicity", .object = __VA_ARGS__)

/// The notifier notifies after the waiter has checked its condition and before it waits.
#define heddle_bp_missed_notification(name_, side_, ...) \
  heddle_bp_at(name_, side_, .type = "missed notification", .object = __VA_ARGS__)

// The side after this one waits a few milliseconds (order_ms), or exactly until the action is over:
//   struct heddle_bp_turn turn = {0};
//   heddle_bp_conflict("stale length", HEDDLE_FIRST, sb, .turn = &turn);
//   sb->length = 0;
//   heddle_bp_end_turn(&turn);

#endif  // __cplusplus

#endif  // HEDDLE_BREAKPOINT_C_H_
