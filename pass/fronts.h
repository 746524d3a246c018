// SPDX-License-Identifier: Apache-2.0
//
// The near half of a plain access' hook: a function of the program's own that does the access if
// nobody listens (abi/hooks.def, __heddle_shutters) and goes on to the runtime if somebody does.
// The runtime is a shared library, too far away for a direct call, and an indirect one costs as
// much again as all the rest of a hook that does nothing.
#pragma once

#include "llvm/IR/GlobalVariable.h"
#include "pass/hooks.h"

namespace heddle::pass {

/// Adds them to the module and has `hooks` call them from now on. `unheard`: the byte that is 0
/// while somebody listens.
void add_fronts(llvm::Constant& unheard, Hooks& hooks);

}  // namespace heddle::pass
