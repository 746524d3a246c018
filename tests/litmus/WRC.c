// SPDX-License-Identifier: Apache-2.0
// Write to read causality: what a thread saw before its store, who sees the store sees too.
/* litmus
{"bound": 1, "random": 1000,
 "allowed": {
  "plain relaxed acq_rel seq_cst": {
    "sc": ["0 0 0", "0 0 1", "0 1 0", "0 1 1", "1 0 0", "1 0 1", "1 1 1"],
    "tso": ["0 0 0", "0 0 1", "0 1 0", "0 1 1", "1 0 0", "1 0 1", "1 1 1"],
    "pso": ["0 0 0", "0 0 1", "0 1 0", "0 1 1", "1 0 0", "1 0 1", "1 1 1"]}}}
*/
#include "litmus.h"

static cell x, y;

THREAD(1, ST(x, 1))
THREAD(2, a = LD(x); ST(y, 1))
THREAD(3, a = LD(y); b = LD(x))

OBSERVE(A(2), A(3), B(3))
MAIN(thread_1, thread_2, thread_3)
