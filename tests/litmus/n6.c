// SPDX-License-Identifier: Apache-2.0
// A thread reads its own store early and still loses the last word (from the x86-TSO paper).
/* litmus
{"allowed": {
  "plain relaxed": {
    "sc": ["1 0 2", "1 2 1", "1 2 2", "2 2 2"],
    "tso": ["1 0 1", "1 0 2", "1 2 1", "1 2 2", "2 2 2"],
    "pso": ["1 0 1", "1 0 2", "1 2 1", "1 2 2", "2 0 2", "2 2 2"]},
  "acq_rel": {
    "sc": ["1 0 2", "1 2 1", "1 2 2", "2 2 2"],
    "tso": ["1 0 1", "1 0 2", "1 2 1", "1 2 2", "2 2 2"],
    "pso": ["1 0 1", "1 0 2", "1 2 1", "1 2 2", "2 2 2"]},
  "seq_cst": {
    "sc": ["1 0 2", "1 2 1", "1 2 2", "2 2 2"],
    "tso": ["1 0 2", "1 2 1", "1 2 2", "2 2 2"],
    "pso": ["1 0 2", "1 2 1", "1 2 2", "2 2 2"]}}}
*/
#include "litmus.h"

static cell x, y;

THREAD(1, ST(x, 1); a = LD(x); b = LD(y))
THREAD(2, ST(y, 2); ST(x, 2))

OBSERVE(A(1), B(1), FINAL(x))
MAIN(thread_1, thread_2)
