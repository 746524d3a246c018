// SPDX-License-Identifier: Apache-2.0
// A store after seeing the flag loses against one before it.
/* litmus
{"allowed": {
  "plain relaxed": {
    "sc": ["0 1", "0 2", "1 1"],
    "tso": ["0 1", "0 2", "1 1"],
    "pso": ["0 1", "0 2", "1 1", "1 2"]},
  "acq_rel seq_cst": {
    "sc": ["0 1", "0 2", "1 1"],
    "tso": ["0 1", "0 2", "1 1"],
    "pso": ["0 1", "0 2", "1 1"]}}}
*/
#include "litmus.h"

static cell x, y;

THREAD(1, ST(x, 2); ST(y, 1))
THREAD(2, a = LD(y); ST(x, 1))

OBSERVE(A(2), FINAL(x))
MAIN(thread_1, thread_2)
