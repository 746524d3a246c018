// SPDX-License-Identifier: Apache-2.0
//
// The sites that steps name: functions, loops, basic blocks and branches. Numbered behind all
// accesses and calls, hooked or not, before anything is rewritten: ids are alike in every variant.
#pragma once

#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Module.h"
#include "pass/selection.h"

namespace heddle::pass {

/// Ids by what they name. Rewriting accesses may split a block and add loops of its own; the
/// pointers here stay those of what the program had.
struct Structure {
  std::vector<Site> sites;
  llvm::DenseMap<const llvm::Function*, abi::SiteId> functions;
  llvm::DenseMap<const llvm::BasicBlock*, abi::SiteId> loops;  // by header
  llvm::DenseMap<const llvm::BasicBlock*, abi::SiteId> blocks;
  llvm::DenseMap<const llvm::Instruction*, abi::SiteId> branches;  // by terminator
};

/// `first` is the id behind the last access.
Structure find_structure(llvm::Module& module, abi::SiteId first);

}  // namespace heddle::pass
