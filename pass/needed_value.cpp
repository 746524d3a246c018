// SPDX-License-Identifier: Apache-2.0
#include "pass/needed_value.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"

namespace heddle::pass {
namespace {

// Assembly of the program's own names the flags it changes as well.
constexpr const char* kAnyRegister = "r";

}  // namespace

void need(llvm::Value* value, llvm::IRBuilder<>& builder) {
  auto* type = llvm::FunctionType::get(builder.getVoidTy(), {value->getType()}, /*isVarArg=*/false);
  llvm::CallInst* call = builder.CreateCall(
      llvm::InlineAsm::get(type, "", kAnyRegister, /*hasSideEffects=*/true), {value});
  call->setDoesNotThrow();
  call->addFnAttr(llvm::Attribute::WillReturn);
  call->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
}

bool is_need(const llvm::User& user) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&user);
  const auto* code =
      call == nullptr ? nullptr : llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand());
  return code != nullptr && call->getType()->isVoidTy() && code->getAsmString().empty() &&
         code->getConstraintString() == kAnyRegister;
}

}  // namespace heddle::pass
