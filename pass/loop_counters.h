// SPDX-License-Identifier: Apache-2.0
//
// The production variant: how often each loop has gone round, readable from a core of an optimised
// program. The round is a variable of the function as far as debug information goes: artificial,
// called __heddle_loop_ID after the loop's site.
//
// Most loops need no instruction for it: where a value moves by a constant in every round, the
// variable is described as its distance from where it began, and only the beginning is stored, once
// a loop. It is written down where the loop is left to end the program, for nothing is kept in
// registers there. A loop that counts in a variable of the program's own, or moves a pointer
// through static ones, is left alone: counting all loops cost a quarter of pbzip2's time, for they
// could no longer be vectorised.
//
// A loop without such a value (over a list) is given one, and described by it:
//
//   header:                               header:
//                                           %n = phi i64 [ 0, %entry ], [ %begun, %latch ]
//                                           %begun = add i64 %n, 1
//   ...                                   ...
//   exit:                                 exit:
//                                           call void asm sideeffect "", "r"(i64 %begun)
//
// The use behind the loop, which is no instruction, keeps the count alive at every instruction of
// the loop; where, the register allocator decides. Some such loops add for several rounds at once
// (pass/rounds_together.h). If the loop has others inside, it counts in memory by one addition: a
// count in a register costs the inner loops more (decision 26).
#pragma once

#include "llvm/IR/Module.h"
#include "pass/sharing.h"
#include "pass/structure.h"

namespace heddle::pass {

/// `memory`: as it was found before the module was changed.
void insert_loop_counters(llvm::Module& module, const Structure& structure,
                          SharingAnalysis& memory);

}  // namespace heddle::pass
