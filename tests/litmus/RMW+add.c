// SPDX-License-Identifier: Apache-2.0
// Two updates are atomic: none is lost.
/* litmus
{"allowed": {
  "plain relaxed acq_rel seq_cst": {
    "sc": ["0 1 2", "1 0 2"],
    "tso": ["0 1 2", "1 0 2"],
    "pso": ["0 1 2", "1 0 2"]}}}
*/
#include "litmus.h"

static cell x;

THREAD(1, a = ADD(x, 1))
THREAD(2, a = ADD(x, 1))

OBSERVE(A(1), A(2), FINAL(x))
MAIN(thread_1, thread_2)
