// SPDX-License-Identifier: Apache-2.0
#include "pass/quiet_code.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

namespace heddle::pass {
namespace {

using abi::Variant;

/// What is called, if it is known and cannot be another at run time.
const llvm::Function* callee_of(const llvm::CallBase& call) {
  const auto* callee =
      llvm::dyn_cast<llvm::Function>(call.getCalledOperand()->stripPointerCastsAndAliases());
  return callee == nullptr || callee->isInterposable() ? nullptr : callee;
}

}  // namespace

// Taken to be quiet until a function that is not is found: so recursion does not make noise by
// itself.
QuietCode::QuietCode(const llvm::Module& module, const Variant& variant) : variant_(variant) {
  llvm::DenseMap<const llvm::Function*, llvm::SmallVector<const llvm::Function*, 4>> callers;
  llvm::SmallVector<const llvm::Function*, 64> loud;
  for (const llvm::Function& function : module) {
    if (!function.isDeclaration() && !variant.has(Variant::Calls)) quiet_.insert(&function);
  }
  for (const llvm::Function& function : module) {
    bool is_loud = false;
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call == nullptr) continue;
      if (!is_quiet(*call)) is_loud = true;
      if (const llvm::Function* callee = callee_of(*call)) callers[callee].push_back(&function);
    }
    if (is_loud && quiet_.contains(&function)) loud.push_back(&function);
  }
  while (!loud.empty()) {
    const llvm::Function* function = loud.pop_back_val();
    if (!quiet_.erase(function)) continue;
    const auto found = callers.find(function);
    if (found != callers.end()) loud.append(found->second.begin(), found->second.end());
  }
}

// A hook is a call of something unknown like any other. What is outside may be one of the functions
// that the runtime stands in front of, or call back, unless it does nothing but compute.
bool QuietCode::is_quiet(const llvm::CallBase& call) const {
  if (llvm::isa<llvm::IntrinsicInst>(call)) return true;
  const llvm::Function* callee = callee_of(call);
  if (callee == nullptr) return false;
  return callee->isDeclaration() ? callee->doesNotAccessMemory() : quiet_.contains(callee);
}

bool QuietCode::holds(const llvm::Loop& loop) const {
  if (variant_.has(Variant::Blocks) || variant_.has(Variant::Branches)) return false;
  return llvm::all_of(loop.blocks(), [this](const llvm::BasicBlock* block) {
    return llvm::all_of(*block, [this](const llvm::Instruction& instruction) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      return call == nullptr || is_quiet(*call);
    });
  });
}

}  // namespace heddle::pass
