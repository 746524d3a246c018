// SPDX-License-Identifier: Apache-2.0
// Store buffering where the stores are exchanges: they drain and act on memory.
/* litmus
{"allowed": {
  "plain relaxed acq_rel seq_cst": {
    "sc": ["0 1", "1 0", "1 1"],
    "tso": ["0 1", "1 0", "1 1"],
    "pso": ["0 1", "1 0", "1 1"]}}}
*/
#include "litmus.h"

static cell x, y;

THREAD(1, a = XCHG(x, 1); b = LD(y))
THREAD(2, a = XCHG(y, 1); b = LD(x))

OBSERVE(B(1), B(2))
MAIN(thread_1, thread_2)
