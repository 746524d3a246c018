// SPDX-License-Identifier: Apache-2.0
//
// Loops of which iterations can be left out (LEAN, 3.2.2: repetitive code blocks). What such a loop
// needs to come to its end is apart from what it does: whether it goes on is computed at its end,
// without calls or writes, from what was computed there the round before and from values that do
// not change, and it is left nowhere else, unless to end the program. `for (int i = 0; i < n; ++i)
// work();` and walks along a list are such loops; `while (!done()) ...` and loops with a break are
// not.
//
//   body:                              body:
//     %i = phi [0, %entry], [%n, %body]  %i = phi [0, %entry], [%n, %end]
//     call @work()                       %go = call @__heddle_repeat_begin(..., 93)
//     %n = add %i, 1                     br %go != 0, label %work, label %end
//     br %n < 9, label %body, ...      work:
//                                        call @work()
//                                        call @__heddle_repeat_end(%go, 93)
//                                        br label %end
//                                      end:
//                                        %n = add %i, 1
//                                        br %n < 9, label %body, ...
//
// Where the limit is read from memory each time round, that is not done between two iterations that
// are left out together: the loop goes on, as the plan says, and after the last one it asks again.
//
// What an iteration would have computed for later is, when it is left out, as the one before left
// it. Whether the program can live with that is not asked here: `heddle reduce` tries.
#pragma once

#include "pass/hooks.h"
#include "pass/structure.h"

namespace heddle::pass {

/// Comes before the accesses are rewritten.
void insert_repeats(llvm::Module& module, const Structure& structure, Hooks& hooks);

}  // namespace heddle::pass
