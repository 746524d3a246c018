// SPDX-License-Identifier: Apache-2.0
//
// How a controlled run takes part: the one place where the header meets the Heddle runtime.
//
// Under `heddle run` all threads are fibers on one kernel thread and a scheduler decides who runs.
// There a pause must not take time, and whether a partner can still come is known, not guessed. The
// runtime defines the functions below; natively they are absent (weak, null) and the engine waits
// on futexes. Matching, predicates and counters stay in the engine either way: the runtime only
// blocks and resumes. Nobody else runs while a thread is inside the engine, which hence takes no
// lock, as long as it calls nothing that the runtime stands in front of.
//
//   controls Whether this process is under control now: not in a child that it forked.
//   arrive   Blocks the calling thread until resume(token) was called, and returns 1; or until no
//            other thread can run, or the others ran for very long without it, and returns 0. When
//            several threads are blocked here and nobody else can run, the one that came first
//            returns 0 and the others stay. A resume that came before the arrive counts: it
//            returns 1 at once. `breakpoint`, `side` and `sides` are for the trace and for
//            strategies; side is HEDDLE_BP_ANY_SIDE while still open.
//   resume   Makes the thread blocked with this token runnable; does not switch to it.
//   follow   The sides of a hit continue in order: blocks the calling thread until the thread
//            `leader` (its pthread_self()) has executed one visible operation since it resumed the
//            caller, or is blocked, or is gone.
//
// arrive and follow are called without the engine's lock by the thread that is to block; resume is
// called with it by another. None may call back. Either all are defined or none; they may be
// defined in a shared library. The engine's own functions (names beginning with heddle_bp_) are no
// part of the program and have no hooks of their own in an instrumented build (pass/selection.cpp).
#ifndef HEDDLE_DETAIL_BREAKPOINT_HOOKS_H_
#define HEDDLE_DETAIL_BREAKPOINT_HOOKS_H_

#ifdef __cplusplus
extern "C" {
#endif

__attribute__((weak)) int __heddle_breakpoint_controls(void);
__attribute__((weak)) int __heddle_breakpoint_arrive(const void* breakpoint, unsigned side,
                                                     unsigned sides, const void* token);
__attribute__((weak)) void __heddle_breakpoint_resume(const void* token);
__attribute__((weak)) void __heddle_breakpoint_follow(const void* breakpoint, unsigned long leader);

static inline int heddle_bp_controlled(void) {
  return __heddle_breakpoint_controls != 0 && __heddle_breakpoint_controls();
}

#ifdef __cplusplus
}
#endif

#endif  // HEDDLE_DETAIL_BREAKPOINT_HOOKS_H_
