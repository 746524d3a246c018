// SPDX-License-Identifier: Apache-2.0
#include "pass/block_marks.h"

#include "llvm/IR/IRBuilder.h"
#include "pass/selection.h"

namespace heddle::pass {

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
    // Volatile: kept, and in its block, while the program's own accesses move as they would.
    llvm::IRBuilder<> builder(where, first);
    builder.SetCurrentDebugLocation(llvm::DebugLoc());
    builder.CreateStore(builder.getInt32(block.first_instruction), mark, /*isVolatile=*/true);
  }
}

}  // namespace heddle::pass
