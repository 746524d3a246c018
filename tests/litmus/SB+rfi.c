// SPDX-License-Identifier: Apache-2.0
// Store buffering with each thread reading its own store first: forwarded, it sees 1 before
// anybody else does.
/* litmus
{"allowed": {
  "plain relaxed acq_rel": {
    "sc": ["1 0 1 1", "1 1 1 0", "1 1 1 1"],
    "tso": ["1 0 1 0", "1 0 1 1", "1 1 1 0", "1 1 1 1"],
    "pso": ["1 0 1 0", "1 0 1 1", "1 1 1 0", "1 1 1 1"]},
  "seq_cst": {
    "sc": ["1 0 1 1", "1 1 1 0", "1 1 1 1"],
    "tso": ["1 0 1 1", "1 1 1 0", "1 1 1 1"],
    "pso": ["1 0 1 1", "1 1 1 0", "1 1 1 1"]}}}
*/
#include "litmus.h"

static cell x, y;

THREAD(1, ST(x, 1); a = LD(x); b = LD(y))
THREAD(2, ST(y, 1); a = LD(y); b = LD(x))

OBSERVE(A(1), B(1), A(2), B(2))
MAIN(thread_1, thread_2)
