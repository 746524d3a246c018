// SPDX-License-Identifier: Apache-2.0
//
// Makes the running program say which block it is in, without a word about it in the line table: an
// independent witness for what the line table says (bench/pcsite).
#pragma once

#include "llvm/IR/Module.h"
#include "pass/program_layout.h"

namespace heddle::pass {

/// Each block begins by storing the number of its first instruction in __heddle_mark.
void insert_block_marks(llvm::Module& module, const ProgramLayout& layout);

}  // namespace heddle::pass
