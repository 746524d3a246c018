// SPDX-License-Identifier: Apache-2.0
//
// A condition of a breakpoint file, over what the source names at a place: locals and arguments by
// their debug information, globals by theirs.
//
//   condition:  comparisons (== != < <= > >=) of sums (+ -) of numbers, names and *names (what a
//               pointer points to), joined by && and ||, grouped by ( )
//
// Numbers are 64 bits wide and signed; `&&` and `||` evaluate both sides. What is not an integer, a
// boolean, an enumerator or a pointer has no value here.
#pragma once

#include <string>

#include "llvm/IR/Instruction.h"

namespace heddle::pass {

/// Makes what is before the returned instruction happen only if the condition holds. Null, with
/// what is wrong in `problem`, when it cannot be computed there.
llvm::Instruction* insert_condition(llvm::Instruction& at, llvm::StringRef condition,
                                    std::string& problem);

}  // namespace heddle::pass
