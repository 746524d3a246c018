// SPDX-License-Identifier: Apache-2.0
#include "pass/block_marks.h"

#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "pass/selection.h"

namespace heddle::pass {
namespace {

/// Code of the program's own, which may be inlined here: behind it the last mark is one of its.
bool leaves_marks(const llvm::Instruction& instruction) {
  const auto* const call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (call == nullptr || call->isMustTailCall()) return false;
  const llvm::Function* const callee = call->getCalledFunction();
  return callee == nullptr ? !call->isInlineAsm() : !callee->isDeclaration();
}

}  // namespace

void insert_block_marks(llvm::Module& module, const ProgramLayout& layout) {
  llvm::Type* const number = llvm::Type::getInt32Ty(module.getContext());
  auto* const mark = new llvm::GlobalVariable(module, number, /*isConstant=*/false,
                                              llvm::GlobalValue::WeakAnyLinkage,
                                              llvm::ConstantInt::get(number, 0), "__heddle_mark");
  mark->setVisibility(llvm::GlobalValue::HiddenVisibility);  // one instruction each, no table
  for (const ProgramLayout::Block& block : layout.blocks()) {
    auto* const where = const_cast<llvm::BasicBlock*>(block.block);
    const auto first = where->getFirstInsertionPt();
    if (!is_instrumented(*where->getParent()) || first == where->end()) continue;
    std::vector<llvm::Instruction*> begins = {&*first};
    for (llvm::Instruction& instruction : *where) {
      if (leaves_marks(instruction)) begins.push_back(instruction.getNextNode());
    }
    for (llvm::Instruction* const begin : begins) {
      // Volatile: kept, and in its block, while the program's own accesses move as they would.
      llvm::IRBuilder<> builder(begin);
      builder.SetCurrentDebugLocation(llvm::DebugLoc());
      builder.CreateStore(builder.getInt32(block.first_instruction), mark, /*isVolatile=*/true);
    }
  }
}

}  // namespace heddle::pass
