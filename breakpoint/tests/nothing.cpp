// SPDX-License-Identifier: Apache-2.0
// Compared by nothing.sh with and without its breakpoints.
#include <heddle/breakpoint.h>

#ifdef WITH
#define BREAKPOINT(...) __VA_ARGS__
#else
#define BREAKPOINT(...)
#endif

struct Point {
  int x;
};

int foo(Point* p) {
  BREAKPOINT(using namespace std::chrono_literals;
             heddle::conflict("a", p).pause(10ms).bound(3).when([&] { return p->x > 0; }).first();)
  p->x = 10;
  BREAKPOINT(
      heddle::Context context("foo"); heddle::Holding holding(p);
      heddle::breakpoint<3>("b", 1).where([](int a, int b, int c) { return a + b + c; }).any();)
  return p->x;
}

int bar(Point* p) {
  int t = 0;
#ifdef WITH
  heddle::conflict("a", p).after("b").under("foo").second([&] { t = p->x; });
#else
  t = p->x;
#endif
  BREAKPOINT(heddle::Schedule schedule("s", {"a", "b"}); schedule.point("a");)
  return t;
}
