// SPDX-License-Identifier: Apache-2.0
// Store buffering across a release store, which orders the stores before it but does not drain
// them: a drain there would forbid 0 0.
/* litmus
{"allowed": {
  "plain relaxed": {
    "sc": ["0 1", "1 0", "1 1"],
    "tso": ["0 0", "0 1", "1 0", "1 1"],
    "pso": ["0 0", "0 1", "1 0", "1 1"]}}}
*/
#include "litmus.h"

static cell x, y, z;

THREAD(1, ST(x, 1); ST_REL(y, 1); a = LD(z))
THREAD(2, ST(z, 1); FENCE(); a = LD(x))

OBSERVE(A(1), A(2))
MAIN(thread_1, thread_2)
