// SPDX-License-Identifier: Apache-2.0
// Two compare-exchanges from the same value: exactly one succeeds.
/* litmus
{"allowed": {
  "plain relaxed acq_rel seq_cst": {
    "sc": ["0 1 1", "2 0 2"],
    "tso": ["0 1 1", "2 0 2"],
    "pso": ["0 1 1", "2 0 2"]}}}
*/
#include "litmus.h"

static cell x;

THREAD(1, a = CAS(x, 0, 1))
THREAD(2, a = CAS(x, 0, 2))

OBSERVE(A(1), A(2), FINAL(x))
MAIN(thread_1, thread_2)
