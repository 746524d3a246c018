// SPDX-License-Identifier: Apache-2.0
//
// Which calls give memory that nobody else knows of yet.
#pragma once

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/InstrTypes.h"

namespace heddle::pass {

bool is_allocation(const llvm::CallBase& call, const llvm::TargetLibraryInfo& library);
bool frees(const llvm::CallBase& call, const llvm::TargetLibraryInfo& library);

/// A function of the program that does no more with an allocation than hand it on (or say that
/// there is none): its callers' allocations can be told apart.
bool is_allocator(const llvm::Function& function, const llvm::TargetLibraryInfo& library);

/// Nothing is done with it but, perhaps, freeing what it points to.
bool is_only_freed(const llvm::Argument& argument, const llvm::TargetLibraryInfo& library);

}  // namespace heddle::pass
