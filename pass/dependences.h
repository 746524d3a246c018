// SPDX-License-Identifier: Apache-2.0
//
// The program's own dependences: what the value of an instruction is computed from, and what
// decides whether it is executed. Over the whole program and without regard to order, so a slice
// along them is never too small:
//   data     operands; what a function is given by its callers, and what it returns to them; memory
//            that no other thread sees, a variable of its own where all uses of it are known, else
//            as one; whatever code outside may hand on
//   control  the branches that decide whether a block is reached, the calls that decide whether a
//            function is
#pragma once

#include "pass/program_layout.h"
#include "pass/selection.h"

namespace heddle::pass {

/// Adds the table of abi/dependence_record.h to the module. Must come before sites are rewritten.
void emit_dependences(llvm::Module& module, const ProgramLayout& layout,
                      llvm::ArrayRef<Site> sites);

}  // namespace heddle::pass
