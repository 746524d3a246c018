// SPDX-License-Identifier: Apache-2.0
#include "pass/attributes.h"

#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"

namespace heddle::pass {
namespace {

llvm::AttributeList without_promises(llvm::AttributeList attributes, unsigned parameters,
                                     llvm::LLVMContext& context) {
  llvm::AttributeMask of_function;
  for (llvm::Attribute::AttrKind kind :
       {llvm::Attribute::Memory, llvm::Attribute::NoSync, llvm::Attribute::NoFree,
        llvm::Attribute::WillReturn, llvm::Attribute::NoCallback, llvm::Attribute::Speculatable}) {
    of_function.addAttribute(kind);
  }
  llvm::AttributeMask of_parameter;
  for (llvm::Attribute::AttrKind kind :
       {llvm::Attribute::ReadNone, llvm::Attribute::ReadOnly, llvm::Attribute::WriteOnly,
        llvm::Attribute::NoCapture, llvm::Attribute::NoAlias, llvm::Attribute::NoFree}) {
    of_parameter.addAttribute(kind);
  }
  attributes = attributes.removeFnAttributes(context, of_function);
  for (unsigned i = 0; i < parameters; ++i) {
    attributes = attributes.removeParamAttributes(context, i, of_parameter);
  }
  return attributes;
}

bool may_reach_defined_function(const llvm::CallBase& call) {
  if (call.isInlineAsm()) return false;
  const llvm::Value* target = call.getCalledOperand()->stripPointerCastsAndAliases();
  const auto* function = llvm::dyn_cast<llvm::Function>(target);
  return function == nullptr || !function->isDeclaration();
}

}  // namespace

void withdraw_promises(llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.setAttributes(
        without_promises(function.getAttributes(), function.arg_size(), context));
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call == nullptr || !may_reach_defined_function(*call)) continue;
      call->setAttributes(without_promises(call->getAttributes(), call->arg_size(), context));
    }
  }
}

}  // namespace heddle::pass
