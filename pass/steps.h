// SPDX-License-Identifier: Apache-2.0
//
// Inserts the hooks of steps (abi/steps.def) that a variant asks for.
//
// The program's control flow stays as it is. A block reached both from within a loop and from
// elsewhere asks a PHI where it comes from, rather than having its edges split, which not every
// edge allows (computed gotos, landing pads):
//
//   after:                                after:
//                                           %left = phi i32 [ 1, %body ], [ 0, %entry ]
//                                           call void @__heddle_loop_exit(i32 %left, i32 93)
//
// Exceptions and longjmp leave loops and functions without passing any of their code. Clean-ups
// that say so would change what the program does: unwinding is visible in its events. Instead the
// place where the exception or longjmp ends up says which invocation and loop it is in; what was
// entered since then is over, and the driver puts the missing exits in (driver/step_order.h).
#pragma once

#include "abi/variant.h"
#include "pass/hooks.h"
#include "pass/structure.h"

namespace heddle::pass {

/// Comes after the accesses have been rewritten.
void insert_steps(llvm::Module& module, const Structure& structure, const abi::Variant& variant,
                  Hooks& hooks);

}  // namespace heddle::pass
