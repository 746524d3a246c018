// SPDX-License-Identifier: Apache-2.0
// Compared by nothing.sh with and without its breakpoints.
#include <heddle/breakpoint_c.h>

#ifdef WITH
#define BREAKPOINT(...) __VA_ARGS__
#else
#define BREAKPOINT(...)
#endif

int foo(int* p);

int foo(int* p) {
  BREAKPOINT(heddle_bp_conflict("a", HEDDLE_FIRST, p, .pause_ms = 10, .bound = 3);)
  *p = 10;
  BREAKPOINT(heddle_bp_deadlock("b", HEDDLE_ANY, p, p);)
  BREAKPOINT(heddle_bp_at("c", 2, .sides = 3);)
  return *p;
}
