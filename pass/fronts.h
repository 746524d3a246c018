// SPDX-License-Identifier: Apache-2.0
//
// The near half of a plain access' hook: a function of the program's own that does the access if
// nobody listens (abi/hooks.def, __heddle_shutters) or its shutter is closed, and goes on to the
// runtime otherwise.
// The runtime is a shared library, too far away for a direct call, and an indirect one costs as
// much again as all the rest of a hook that does nothing.
#pragma once

#include <cstdint>

#include "abi/abi.h"
#include "llvm/IR/GlobalVariable.h"
#include "pass/hooks.h"

namespace heddle::pass {

/// Adds them to the module and has `hooks` call them from now on. `shutters`: `count` bytes, of
/// `first` and the sites behind it, and one that is 0 while somebody listens.
void add_fronts(llvm::GlobalVariable& shutters, std::uint64_t count, abi::SiteId first,
                Hooks& hooks);

}  // namespace heddle::pass
