// SPDX-License-Identifier: Apache-2.0
// A store after a release store may become visible before it, and before what it ordered.
/* litmus
{"allowed": {
  "plain relaxed": {
    "sc": ["0 0", "0 1", "1 1"],
    "tso": ["0 0", "0 1", "1 1"],
    "pso": ["0 0", "0 1", "1 0", "1 1"]}}}
*/
#include "litmus.h"

static cell x, y, z;

THREAD(1, ST(x, 1); ST_REL(y, 1); ST(z, 1))
THREAD(2, a = LD(z); b = LD(x))

OBSERVE(A(2), B(2))
MAIN(thread_1, thread_2)
