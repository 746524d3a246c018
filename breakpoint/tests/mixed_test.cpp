// SPDX-License-Identifier: Apache-2.0
//
// One side in C++, the other in C: one engine for both.
#include <heddle/breakpoint.h>

#include "threads.h"

extern "C" int arrive_from_c(const void* object);

int main() {
  int object = 0;
  bool from_cxx = false, from_c = false;
  run_all([&] { from_cxx = heddle::conflict("mixed", &object).pause(kForever).first(); },
          [&] { from_c = arrive_from_c(&object) != 0; });
  return from_cxx && from_c && heddle::breakpoint_stats("mixed").hits == 1 ? 0 : 1;
}
