// SPDX-License-Identifier: Apache-2.0
// Coherence: two loads of one location never see its stores backwards.
/* litmus
{"allowed": {
  "plain relaxed acq_rel seq_cst": {
    "sc": ["0 0", "0 1", "0 2", "1 1", "1 2", "2 2"],
    "tso": ["0 0", "0 1", "0 2", "1 1", "1 2", "2 2"],
    "pso": ["0 0", "0 1", "0 2", "1 1", "1 2", "2 2"]}}}
*/
#include "litmus.h"

static cell x;

THREAD(1, ST(x, 1); ST(x, 2))
THREAD(2, a = LD(x); b = LD(x))

OBSERVE(A(2), B(2))
MAIN(thread_1, thread_2)
