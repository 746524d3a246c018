// SPDX-License-Identifier: Apache-2.0
//
// The production variant: how often each loop has gone round, readable from a core of an optimised
// program.
//
//   header:                               header:
//                                           %n = phi i64 [ 0, %entry ], [ %next, %latch ]
//                                           store volatile i64 %n, ptr %count
//                                           %next = add i64 %n, 1
//
// %count is a variable of the function as far as debug information goes: artificial, called
// __heddle_loop_ID after the loop's site. The volatile store makes it right at every instruction of
// the loop; that the sum is kept in a register makes it cheap (a load, an addition and a store cost
// up to a third of a program's time).
//
// Most loops need no store: where a value moves by a constant in every round, the variable is
// described as its distance from where it began, and only the beginning is stored, once a loop. It
// is written down where the loop is left to end the program, for nothing is kept in registers
// there. A loop that counts in a variable of the program's own is left alone: counting all loops
// cost a quarter of pbzip2's time, for they could no longer be vectorised.
#pragma once

#include "llvm/IR/Module.h"
#include "pass/structure.h"

namespace heddle::pass {

void insert_loop_counters(llvm::Module& module, const Structure& structure);

}  // namespace heddle::pass
