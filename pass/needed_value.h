// SPDX-License-Identifier: Apache-2.0
//
// Values that only a debugger looks at, and that must be there for it.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace heddle::pass {

/// Lets nobody find out that `value` is not needed. This is no instruction of the machine.
void need(llvm::Value* value, llvm::IRBuilder<>& builder);

/// True for what need() has made.
bool is_need(const llvm::User& user);

}  // namespace heddle::pass
