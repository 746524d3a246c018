// SPDX-License-Identifier: Apache-2.0
//
// Code in which nothing can be recorded: no hook is in it, nor in anything it calls. Which round of
// a loop such code is in nobody will ever ask, so the hooks of the loop can be left out, and with
// them most of what rounds cost a program that computes (decision 24).
#pragma once

#include "abi/variant.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

namespace heddle::pass {

class QuietCode {
 public:
  /// `module` has all hooks but those of steps, and shall have those that `variant` asks for.
  QuietCode(const llvm::Module& module, const abi::Variant& variant);

  bool holds(const llvm::Loop& loop) const;

 private:
  bool is_quiet(const llvm::CallBase& call) const;

  abi::Variant variant_;
  llvm::DenseSet<const llvm::Function*> quiet_;
};

}  // namespace heddle::pass
