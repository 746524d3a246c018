// SPDX-License-Identifier: Apache-2.0
// An update next to a pending store to the same location: the store comes before it or after.
/* litmus
{"allowed": {
  "plain relaxed acq_rel": {
    "sc": ["0 2 3", "1 0 2", "1 2 3"],
    "tso": ["0 0 2", "0 2 3", "1 0 2", "1 2 3"],
    "pso": ["0 0 2", "0 2 3", "1 0 2", "1 2 3"]},
  "seq_cst": {
    "sc": ["0 2 3", "1 0 2", "1 2 3"],
    "tso": ["0 2 3", "1 0 2", "1 2 3"],
    "pso": ["0 2 3", "1 0 2", "1 2 3"]}}}
*/
#include "litmus.h"

static cell x, y;

THREAD(1, ST(x, 2); a = LD(y))
THREAD(2, ST(y, 1); a = ADD(x, 1))

OBSERVE(A(1), A(2), FINAL(x))
MAIN(thread_1, thread_2)
