// SPDX-License-Identifier: Apache-2.0
#include "pass/allocation.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/MemoryBuiltins.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace heddle::pass {
namespace {

bool is_call_of(const llvm::CallBase& call, const llvm::TargetLibraryInfo& library,
                llvm::ArrayRef<llvm::LibFunc> wanted) {
  const llvm::Function* callee = call.getCalledFunction();
  llvm::LibFunc function;
  return callee != nullptr && library.getLibFunc(*callee, function) && library.has(function) &&
         llvm::is_contained(wanted, function);
}

bool is_handed_on(const llvm::Value& value, const llvm::User& user) {
  return llvm::isa<llvm::ReturnInst, llvm::ICmpInst, llvm::PHINode>(user) ||
         (llvm::isa<llvm::SelectInst>(user) && user.getOperand(0) != &value);
}

/// All that `function` may return, through choices.
llvm::SmallPtrSet<const llvm::Value*, 8> results_of(const llvm::Function& function) {
  llvm::SmallVector<const llvm::Value*, 8> waiting;
  for (const llvm::BasicBlock& block : function) {
    const auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator());
    if (end != nullptr && end->getReturnValue() != nullptr)
      waiting.push_back(end->getReturnValue());
  }
  llvm::SmallPtrSet<const llvm::Value*, 8> results;
  while (!waiting.empty()) {
    const llvm::Value* value = waiting.pop_back_val();
    if (!results.insert(value).second) continue;
    if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(value)) {
      waiting.append(phi->value_op_begin(), phi->value_op_end());
    } else if (const auto* select = llvm::dyn_cast<llvm::SelectInst>(value)) {
      waiting.push_back(select->getTrueValue());
      waiting.push_back(select->getFalseValue());
    }
  }
  return results;
}

}  // namespace

// Code that was compiled without optimisation has no attributes to tell.
bool is_allocation(const llvm::CallBase& call, const llvm::TargetLibraryInfo& library) {
  return llvm::isAllocationFn(&call, &library) ||
         is_call_of(call, library, {llvm::LibFunc_malloc, llvm::LibFunc_calloc});
}

bool frees(const llvm::CallBase& call, const llvm::TargetLibraryInfo& library) {
  return call.getType()->isVoidTy() && (llvm::getFreedOperand(&call, &library) != nullptr ||
                                        is_call_of(call, library, {llvm::LibFunc_free}));
}

bool is_allocator(const llvm::Function& function, const llvm::TargetLibraryInfo& library) {
  if (!function.getReturnType()->isPointerTy()) return false;
  bool allocates = false;
  for (const llvm::Value* result : results_of(function)) {
    if (llvm::isa<llvm::ConstantPointerNull>(result)) continue;
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(result)) {
      if (!is_allocation(*call, library) || llvm::getReallocatedOperand(call) != nullptr) {
        return false;
      }
      allocates = true;
    } else if (!llvm::isa<llvm::PHINode, llvm::SelectInst>(result)) {
      return false;
    }
    for (const llvm::User* user : result->users()) {
      if (!is_handed_on(*result, *user)) return false;
    }
  }
  return allocates;
}

bool is_only_freed(const llvm::Argument& argument, const llvm::TargetLibraryInfo& library) {
  return llvm::all_of(argument.users(), [&](const llvm::User* user) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(user);
    return llvm::isa<llvm::ICmpInst>(user) || (call != nullptr && frees(*call, library));
  });
}

}  // namespace heddle::pass
