// SPDX-License-Identifier: Apache-2.0
// Message passing: the flag is seen without the message. The shape that tells PSO from TSO.
/* litmus
{"allowed": {
  "plain relaxed": {
    "sc": ["0 0", "0 1", "1 1"],
    "tso": ["0 0", "0 1", "1 1"],
    "pso": ["0 0", "0 1", "1 0", "1 1"]},
  "acq_rel seq_cst": {
    "sc": ["0 0", "0 1", "1 1"],
    "tso": ["0 0", "0 1", "1 1"],
    "pso": ["0 0", "0 1", "1 1"]}}}
*/
#include "litmus.h"

static cell x, y;

THREAD(1, ST(x, 1); ST(y, 1))
THREAD(2, a = LD(y); b = LD(x))

OBSERVE(A(2), B(2))
MAIN(thread_1, thread_2)
