// SPDX-License-Identifier: Apache-2.0
//
// A structure that is passed by value is read by the call itself, which is no access that could be
// seen:
//
//   call void @f(ptr byval(%big) @shared)     call void @llvm.memcpy(ptr %copy, ptr @shared, ...)
//                                             call void @f(ptr byval(%big) %copy)
//
// Done in every variant, before anything is numbered. Where nobody hooks the copy, the optimiser
// takes it away again.
#pragma once

#include "llvm/IR/Module.h"

namespace heddle::pass {

/// Of arguments that are no variables of the caller's own.
void expose_argument_copies(llvm::Module& module);

}  // namespace heddle::pass
