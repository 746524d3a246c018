// SPDX-License-Identifier: Apache-2.0
//
// The engine of include/heddle/breakpoint.h is compiled into the program and no part of it: the
// runtime counts on nobody else running while a thread is inside, and nobody wants to see it work.
#pragma once

#include "llvm/IR/Value.h"

namespace heddle::pass {

/// One of its functions or variables.
bool is_breakpoint_engine(const llvm::Value& value);

/// What the program tells the engine on its stack.
bool is_breakpoint_argument(const llvm::Value& object);

}  // namespace heddle::pass
