// SPDX-License-Identifier: Apache-2.0
// Store buffering with full fences: they drain, so one thread sees the other.
/* litmus
{"allowed": {
  "plain relaxed acq_rel seq_cst": {
    "sc": ["0 1", "1 0", "1 1"],
    "tso": ["0 1", "1 0", "1 1"],
    "pso": ["0 1", "1 0", "1 1"]}}}
*/
#include "litmus.h"

static cell x, y;

THREAD(1, ST(x, 1); FENCE(); a = LD(y))
THREAD(2, ST(y, 1); FENCE(); a = LD(x))

OBSERVE(A(1), A(2))
MAIN(thread_1, thread_2)
