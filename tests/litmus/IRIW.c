// SPDX-License-Identifier: Apache-2.0
// Independent reads of independent writes: a store is visible to all others at once, so two
// readers agree on the order.
/* litmus
{"bound": 1, "random": 4000,
 "allowed": {
  "plain relaxed acq_rel seq_cst": {
    "sc": ["0 0 0 0", "0 0 0 1", "0 0 1 0", "0 0 1 1", "0 1 0 0", "0 1 0 1",
           "0 1 1 0", "0 1 1 1", "1 0 0 0", "1 0 0 1", "1 0 1 1", "1 1 0 0", "1 1 0 1",
           "1 1 1 0", "1 1 1 1"],
    "tso": ["0 0 0 0", "0 0 0 1", "0 0 1 0", "0 0 1 1", "0 1 0 0", "0 1 0 1",
           "0 1 1 0", "0 1 1 1", "1 0 0 0", "1 0 0 1", "1 0 1 1", "1 1 0 0", "1 1 0 1",
           "1 1 1 0", "1 1 1 1"],
    "pso": ["0 0 0 0", "0 0 0 1", "0 0 1 0", "0 0 1 1", "0 1 0 0", "0 1 0 1",
           "0 1 1 0", "0 1 1 1", "1 0 0 0", "1 0 0 1", "1 0 1 1", "1 1 0 0", "1 1 0 1",
           "1 1 1 0", "1 1 1 1"]}}}
*/
#include "litmus.h"

static cell x, y;

THREAD(1, ST(x, 1))
THREAD(2, ST(y, 1))
THREAD(3, a = LD(x); b = LD(y))
THREAD(4, a = LD(y); b = LD(x))

OBSERVE(A(3), B(3), A(4), B(4))
MAIN(thread_1, thread_2, thread_3, thread_4)
