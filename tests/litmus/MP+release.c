// SPDX-License-Identifier: Apache-2.0
// Message passing with a release store of the flag.
/* litmus
{"allowed": {
  "plain relaxed": {
    "sc": ["0 0", "0 1", "1 1"],
    "tso": ["0 0", "0 1", "1 1"],
    "pso": ["0 0", "0 1", "1 1"]}}}
*/
#include "litmus.h"

static cell x, y;

THREAD(1, ST(x, 1); ST_REL(y, 1))
THREAD(2, a = LD_ACQ(y); b = LD(x))

OBSERVE(A(2), B(2))
MAIN(thread_1, thread_2)
