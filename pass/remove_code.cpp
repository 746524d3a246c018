// SPDX-License-Identifier: Apache-2.0
#include "pass/remove_code.h"

#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Instructions.h"

namespace heddle::pass {

void remove_code(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    // Other files still refer to it, so it stays a definition of the same kind.
    const llvm::GlobalValue::LinkageTypes linkage = function.getLinkage();
    function.deleteBody();
    function.setLinkage(linkage);
    auto* const body = llvm::BasicBlock::Create(module.getContext(), "", &function);
    new llvm::UnreachableInst(module.getContext(), body);
  }
  llvm::StripDebugInfo(module);
}

}  // namespace heddle::pass
