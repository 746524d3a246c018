// SPDX-License-Identifier: Apache-2.0
//
// A data race pinned by a breakpoint; ThreadSanitizer must still see it.
#include <heddle/breakpoint.h>

#include "threads.h"

namespace {
int shared;
}

int main() {
  run_all(
      [] {
        heddle::conflict("race", &shared).pause(kForever).first();
        shared = 1;
      },
      [] {
        heddle::conflict("race", &shared).pause(kForever).second();
        shared = 2;
      });
}
