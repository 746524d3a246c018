// SPDX-License-Identifier: Apache-2.0
// Store buffering: each thread misses the other's store. The shape that tells TSO from SC.
/* litmus
{"allowed": {
  "plain relaxed acq_rel": {
    "sc": ["0 1", "1 0", "1 1"],
    "tso": ["0 0", "0 1", "1 0", "1 1"],
    "pso": ["0 0", "0 1", "1 0", "1 1"]},
  "seq_cst": {
    "sc": ["0 1", "1 0", "1 1"],
    "tso": ["0 1", "1 0", "1 1"],
    "pso": ["0 1", "1 0", "1 1"]}}}
*/
#include "litmus.h"

static cell x, y;

THREAD(1, ST(x, 1); a = LD(y))
THREAD(2, ST(y, 1); a = LD(x))

OBSERVE(A(1), A(2))
MAIN(thread_1, thread_2)
