// SPDX-License-Identifier: Apache-2.0
#include "pass/argument_copies.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "pass/selection.h"

namespace heddle::pass {
namespace {

bool is_own_variable(const llvm::Value* argument) {
  const llvm::Value* object = llvm::getUnderlyingObject(argument);
  const auto* parameter = llvm::dyn_cast<llvm::Argument>(object);
  return llvm::isa<llvm::AllocaInst>(object) || (parameter != nullptr && parameter->hasByValAttr());
}

void copy_before(llvm::CallBase& call, unsigned index) {
  const llvm::DataLayout& layout = call.getModule()->getDataLayout();
  llvm::Type* type = call.getParamByValType(index);
  llvm::Value* original = call.getArgOperand(index);
  const llvm::Align align =
      std::max(call.getParamAlign(index).valueOrOne(), layout.getPrefTypeAlign(type));
  llvm::BasicBlock& entry = call.getFunction()->getEntryBlock();
  llvm::IRBuilder<> variables(&entry, entry.getFirstInsertionPt());
  llvm::AllocaInst* copy = variables.CreateAlloca(type);
  copy->setAlignment(align);
  llvm::IRBuilder<> builder(&call);
  builder.CreateMemCpy(copy, align, original, original->getPointerAlignment(layout),
                       layout.getTypeAllocSize(type).getFixedValue());
  call.setArgOperand(index, copy);
}

}  // namespace

void expose_argument_copies(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (!is_instrumented(function)) continue;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      // A tail call that must be one has no variables to copy to.
      if (call == nullptr || call->isMustTailCall()) continue;
      for (unsigned i = 0; i < call->arg_size(); ++i) {
        if (call->isByValArgument(i) && !is_own_variable(call->getArgOperand(i))) {
          copy_before(*call, i);
        }
      }
    }
  }
}

}  // namespace heddle::pass
