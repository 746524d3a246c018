// SPDX-License-Identifier: Apache-2.0
//
// What the two tables of dependences (dependences.h, code_table.h) both have to know of a program.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Instructions.h"

namespace heddle::pass {

/// A local variable that is loaded from and stored to and nothing else: nobody has its address.
bool is_private(const llvm::AllocaInst& variable);

/// Null: not known.
const llvm::Function* callee_of(const llvm::CallBase& call);

/// A block is decided upon by the branches from which it can be missed (Ferrante et al., 1987).
using Decided = llvm::function_ref<void(llvm::BasicBlock& block, llvm::Instruction& branch)>;
void for_each_decision(llvm::Function& function, Decided decided);

}  // namespace heddle::pass
