// SPDX-License-Identifier: Apache-2.0
//
// Breakpoints given in a file, put into a program that otherwise stays native (abi/woven.h):
//
//   store i64 %n, ptr %hits             call void @__heddle_woven_at(i32 2, ptr %hits)
//                                       store i64 %n, ptr %hits
#pragma once

#include "llvm/IR/Module.h"
#include "pass/structure.h"

namespace heddle::pass {

/// Weaves what the file named by HEDDLE_PASS_WEAVING asks for; nothing if it is not set. The file
/// is the driver's: what is wrong with it is a defect and ends the link.
void weave_breakpoints(llvm::Module& module, llvm::ArrayRef<Site> sites);

}  // namespace heddle::pass
