// SPDX-License-Identifier: Apache-2.0
// A store overtaken by a load on one side, two stores in order on the other.
/* litmus
{"allowed": {
  "plain relaxed acq_rel": {
    "sc": ["1 0", "1 1", "2 1"],
    "tso": ["1 0", "1 1", "2 0", "2 1"],
    "pso": ["1 0", "1 1", "2 0", "2 1"]},
  "seq_cst": {
    "sc": ["1 0", "1 1", "2 1"],
    "tso": ["1 0", "1 1", "2 1"],
    "pso": ["1 0", "1 1", "2 1"]}}}
*/
#include "litmus.h"

static cell x, y;

THREAD(1, ST(x, 1); ST(y, 1))
THREAD(2, ST(y, 2); a = LD(x))

OBSERVE(FINAL(y), A(2))
MAIN(thread_1, thread_2)
