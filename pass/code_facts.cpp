// SPDX-License-Identifier: Apache-2.0
#include "pass/code_facts.h"

#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/IntrinsicInst.h"

namespace heddle::pass {

bool is_private(const llvm::AllocaInst& variable) {
  llvm::SmallVector<const llvm::Value*, 8> addresses{&variable};
  while (!addresses.empty()) {
    const llvm::Value* const address = addresses.pop_back_val();
    for (const llvm::User* user : address->users()) {
      if (llvm::isa<llvm::LoadInst>(user)) continue;
      if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) {
        if (store->getValueOperand() == address) return false;
      } else if (llvm::isa<llvm::GetElementPtrInst>(user)) {
        addresses.push_back(user);
      } else if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(user)) {
        if (!call->isLifetimeStartOrEnd()) return false;
      } else {
        return false;
      }
    }
  }
  return true;
}

const llvm::Function* callee_of(const llvm::CallBase& call) {
  return llvm::dyn_cast<llvm::Function>(call.getCalledOperand()->stripPointerCastsAndAliases());
}

void for_each_decision(llvm::Function& function, Decided decided) {
  const llvm::PostDominatorTree tree(function);
  for (llvm::BasicBlock& block : function) {
    llvm::Instruction& branch = *block.getTerminator();
    if (branch.getNumSuccessors() < 2) continue;
    const auto* const own = tree.getNode(&block);
    const auto* const end = own == nullptr ? nullptr : own->getIDom();
    for (const llvm::BasicBlock* successor : llvm::successors(&block)) {
      for (const auto* at = tree.getNode(successor); at != nullptr && at != end;
           at = at->getIDom()) {
        if (at->getBlock() != nullptr) decided(*at->getBlock(), branch);
      }
    }
  }
}

}  // namespace heddle::pass
