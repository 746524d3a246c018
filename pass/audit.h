// SPDX-License-Identifier: Apache-2.0
//
// The audit of the sharing analysis: accesses it left without a hook announce themselves together
// with its verdict, and the runtime sees whether another thread comes by (runtime/memory/audit.h).
//
//   store i32 1, ptr %local               call void @__heddle_audit_write(ptr %local, i64 4, i32 2,
//   i32 18)
//                                         store i32 1, ptr %local
//
// Stacks are used over and over, by variables that are shared and by others: each variable says
// where it begins and ends.
#pragma once

#include "pass/hooks.h"
#include "pass/structure.h"

namespace heddle::pass {

/// May come before or after the hooked sites have been rewritten.
void insert_audit(llvm::Module& module, llvm::ArrayRef<Site> sites, const Structure& structure,
                  Hooks& hooks);

}  // namespace heddle::pass
