// SPDX-License-Identifier: Apache-2.0
//
// The compiler has already written down what it learnt about functions ("reads memory only",
// "returns", "keeps no pointer"). Hooks make that untrue: other threads run inside them. A wrong
// promise would let the optimiser merge or drop calls, and with them events.
#pragma once

#include "llvm/IR/Module.h"

namespace heddle::pass {

/// Takes back the promises of every defined function and of the calls that may reach one.
void withdraw_promises(llvm::Module& module);

}  // namespace heddle::pass
