// SPDX-License-Identifier: Apache-2.0
// Store buffering with release fences: they order stores and drain nothing.
/* litmus
{"allowed": {
  "plain acq_rel": {
    "sc": ["0 1", "1 0", "1 1"],
    "tso": ["0 0", "0 1", "1 0", "1 1"],
    "pso": ["0 0", "0 1", "1 0", "1 1"]},
  "seq_cst": {
    "sc": ["0 1", "1 0", "1 1"],
    "tso": ["0 1", "1 0", "1 1"],
    "pso": ["0 1", "1 0", "1 1"]}}}
*/
#include "litmus.h"

static cell x, y;

THREAD(1, ST(x, 1); FENCE_REL(); a = LD(y))
THREAD(2, ST(y, 1); FENCE_REL(); a = LD(x))

OBSERVE(A(1), A(2))
MAIN(thread_1, thread_2)
