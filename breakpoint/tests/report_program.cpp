// SPDX-License-Identifier: Apache-2.0
//
// One hit and one pause in vain, run by report_test with different settings.
#include <heddle/breakpoint.h>

#include "threads.h"

int main() {
  int object = 0;
  run_all([&] { heddle::conflict("met \"here\"", &object).first(); },
          [&] { heddle::conflict("met \"here\"", &object).second(); });
  heddle::conflict("alone", &object).first();
  return heddle::breakpoint_stats("met \"here\"").hits == 1 ? 0 : 1;
}
