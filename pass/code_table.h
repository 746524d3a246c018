// SPDX-License-Identifier: Apache-2.0
//
// Writes what each instruction computes from what, and what decides whether it is executed, into
// the program (abi/code_record.h). What code outside the program does with memory is taken from
// what LLVM and a few names say of it; where they say nothing, it may read and write whatever its
// thread does.
#pragma once

#include "pass/program_layout.h"
#include "pass/selection.h"

namespace heddle::pass {

/// Must come before sites are rewritten.
void emit_code_table(llvm::Module& module, const ProgramLayout& layout, llvm::ArrayRef<Site> sites);

}  // namespace heddle::pass
