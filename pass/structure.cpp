// SPDX-License-Identifier: Apache-2.0
#include "pass/structure.h"

#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

namespace heddle::pass {
namespace {

using abi::SiteKind;

// What stands for a block in the table: the first instruction that has a place in the source.
llvm::Instruction& representative(llvm::BasicBlock& block) {
  for (llvm::Instruction& instruction : block.instructionsWithoutDebug()) {
    const llvm::DebugLoc& location = instruction.getDebugLoc();
    if (location && location.getLine() != 0 && !llvm::isa<llvm::PHINode>(instruction)) {
      return instruction;
    }
  }
  return *block.getTerminator();
}

// The front end notes where a loop begins; without that, its header says it.
const llvm::DILocation* start_of(const llvm::Loop& loop) {
  const llvm::Loop::LocRange range = loop.getLocRange();
  return range.getStart() ? range.getStart().get() : nullptr;
}

bool is_branch(const llvm::Instruction& terminator) {
  if (const auto* branch = llvm::dyn_cast<llvm::BranchInst>(&terminator)) {
    return branch->isConditional();
  }
  return llvm::isa<llvm::SwitchInst>(terminator);
}

class Numbering {
 public:
  explicit Numbering(abi::SiteId first) : next_(first) {}

  void add(llvm::Function& function) {
    llvm::BasicBlock& entry = function.getEntryBlock();
    structure_.functions[&function] =
        site(SiteKind::Function, *entry.getTerminator(), function_start(function));
    const llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);
    for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
      llvm::BasicBlock& header = *loop->getHeader();
      structure_.loops[&header] = site(SiteKind::Loop, representative(header), start_of(*loop));
    }
    for (llvm::BasicBlock& block : function) {
      structure_.blocks[&block] = site(SiteKind::Block, representative(block), nullptr);
      llvm::Instruction& terminator = *block.getTerminator();
      if (is_branch(terminator)) {
        structure_.branches[&terminator] = site(SiteKind::Branch, terminator, nullptr);
      }
    }
  }

  Structure take() { return std::move(structure_); }

 private:
  static const llvm::DILocation* function_start(const llvm::Function& function) {
    llvm::DISubprogram* subprogram = function.getSubprogram();
    if (subprogram == nullptr) return nullptr;
    return llvm::DILocation::get(function.getContext(), subprogram->getLine(), 0, subprogram);
  }

  abi::SiteId site(SiteKind kind, llvm::Instruction& instruction,
                   const llvm::DILocation* location) {
    structure_.sites.push_back(
        {&instruction, kind, 0, next_, abi::Sharing::NotAnAccess, false, location});
    return next_++;
  }

  abi::SiteId next_;
  Structure structure_;
};

}  // namespace

Structure find_structure(llvm::Module& module, abi::SiteId first) {
  Numbering numbering(first);
  for (llvm::Function& function : module) {
    if (is_instrumented(function)) numbering.add(function);
  }
  return numbering.take();
}

}  // namespace heddle::pass
