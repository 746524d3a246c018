// SPDX-License-Identifier: Apache-2.0
// Coherence: after its own store a thread never reads an older value.
/* litmus
{"allowed": {
  "plain relaxed acq_rel seq_cst": {
    "sc": ["1 1 1", "1 2 1", "1 2 2", "2 2 2"],
    "tso": ["1 1 1", "1 2 1", "1 2 2", "2 2 2"],
    "pso": ["1 1 1", "1 2 1", "1 2 2", "2 2 2"]}}}
*/
#include "litmus.h"

static cell x;

THREAD(1, ST(x, 1); a = LD(x))
THREAD(2, ST(x, 2); a = LD(x))

OBSERVE(A(1), A(2), FINAL(x))
MAIN(thread_1, thread_2)
