// SPDX-License-Identifier: Apache-2.0
//
// For links that are made for the site table alone: optimising and translating a large program
// takes most of the time of its link.
#pragma once

#include "llvm/IR/Module.h"

namespace heddle::pass {

/// Leaves of each function no more than its name, and no debug information.
void remove_code(llvm::Module& module);

}  // namespace heddle::pass
