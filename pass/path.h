// SPDX-License-Identifier: Apache-2.0
//
// Inserts the hooks that tell an execution's way through the program's instructions
// (abi/path_record.h): at the start of each block, behind each access, before each call, and where
// functions are entered and left. Behind accesses, so that what is told is in the order in which it
// happened: other threads go on within the hook of a shared one.
#pragma once

#include "pass/hooks.h"
#include "pass/program_layout.h"
#include "pass/selection.h"

namespace heddle::pass {

/// Comes before the accesses are rewritten.
void insert_path(const ProgramLayout& layout, llvm::ArrayRef<Site> sites, Hooks& hooks);

/// Whether the path has its address.
bool is_told_access(const Site& site);
/// Whether the path has it as a call.
bool is_told_call(const llvm::Instruction& instruction);

}  // namespace heddle::pass
