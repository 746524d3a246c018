// SPDX-License-Identifier: Apache-2.0
// Load buffering: loads are never delayed, so no model allows 1 1.
/* litmus
{"allowed": {
  "plain relaxed acq_rel seq_cst": {
    "sc": ["0 0", "0 1", "1 0"],
    "tso": ["0 0", "0 1", "1 0"],
    "pso": ["0 0", "0 1", "1 0"]}}}
*/
#include "litmus.h"

static cell x, y;

THREAD(1, a = LD(x); ST(y, 1))
THREAD(2, a = LD(y); ST(x, 1))

OBSERVE(A(1), A(2))
MAIN(thread_1, thread_2)
