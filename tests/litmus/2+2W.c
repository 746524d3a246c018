// SPDX-License-Identifier: Apache-2.0
// Both threads' first stores win: needs stores out of order.
/* litmus
{"allowed": {
  "plain relaxed": {
    "sc": ["1 2", "2 1", "2 2"],
    "tso": ["1 2", "2 1", "2 2"],
    "pso": ["1 1", "1 2", "2 1", "2 2"]},
  "acq_rel seq_cst": {
    "sc": ["1 2", "2 1", "2 2"],
    "tso": ["1 2", "2 1", "2 2"],
    "pso": ["1 2", "2 1", "2 2"]}}}
*/
#include "litmus.h"

static cell x, y;

THREAD(1, ST(x, 1); ST(y, 2))
THREAD(2, ST(y, 1); ST(x, 2))

OBSERVE(FINAL(x), FINAL(y))
MAIN(thread_1, thread_2)
