// SPDX-License-Identifier: Apache-2.0
#include "pass/discriminators.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace heddle::pass {
namespace {

// An instruction the compiler made up has no place; it gets the function's first line, since line 0
// has no discriminator.
llvm::DILocation* numbered(const llvm::DILocation* location, llvm::DISubprogram& subprogram,
                           std::uint32_t number) {
  llvm::LLVMContext& context = subprogram.getContext();
  auto* scope =
      location == nullptr ? static_cast<llvm::DILocalScope*>(&subprogram) : location->getScope();
  if (auto* block = llvm::dyn_cast<llvm::DILexicalBlockFile>(scope)) {
    // One that is there only for a discriminator.
    if (block->getDiscriminator() != 0) scope = block->getScope();
  }
  auto* place = llvm::DILexicalBlockFile::get(context, scope, scope->getFile(), number);
  if (location == nullptr || location->getLine() == 0) {
    const unsigned line = scope->getSubprogram()->getLine();
    return llvm::DILocation::get(context, line == 0 ? 1 : line, 0, place,
                                 location == nullptr ? nullptr : location->getInlinedAt());
  }
  return llvm::DILocation::get(context, location->getLine(), location->getColumn(), place,
                               location->getInlinedAt(), location->isImplicitCode());
}

}  // namespace

void add_discriminators(llvm::Module& module, const ProgramLayout& layout) {
  for (llvm::Function& function : module) {
    llvm::DISubprogram* subprogram = function.getSubprogram();
    if (subprogram == nullptr) continue;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      const std::uint32_t number = layout.number_of(instruction);
      if (number == 0 || llvm::isa<llvm::PHINode>(instruction)) continue;
      instruction.setDebugLoc(numbered(instruction.getDebugLoc(), *subprogram, number));
    }
  }
}

}  // namespace heddle::pass
