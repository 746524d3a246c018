// SPDX-License-Identifier: Apache-2.0
#include "pass/program_layout.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "pass/selection.h"

namespace heddle::pass {

ProgramLayout::ProgramLayout(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (is_instrumented(function)) add_function(function);
  }
}

void ProgramLayout::add_function(llvm::Function& function) {
  functions_.push_back({&function, static_cast<std::uint32_t>(blocks_.size())});
  llvm::DenseMap<const llvm::BasicBlock*, std::uint32_t> block_numbers;
  for (const llvm::BasicBlock& block : function) {
    block_numbers[&block] = static_cast<std::uint32_t>(blocks_.size());
    blocks_.push_back({&block, static_cast<std::uint32_t>(numbers_.size() + 1), 0});
    for (const llvm::Instruction& instruction : block) {
      if (instruction.isDebugOrPseudoInst()) continue;
      numbers_.try_emplace(&instruction, static_cast<std::uint32_t>(numbers_.size() + 1));
    }
  }
  const llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loop_info(dominators);
  llvm::DenseMap<const llvm::Loop*, std::uint32_t> loop_numbers;  // counted from 1; null gives 0
  for (const llvm::Loop* loop : loop_info.getLoopsInPreorder()) {
    loops_.push_back({loop_numbers.lookup(loop->getParentLoop()),
                      block_numbers.lookup(loop->getHeader()), loop->getStartLoc()});
    loop_numbers[loop] = static_cast<std::uint32_t>(loops_.size());
  }
  for (const llvm::BasicBlock& block : function) {
    blocks_[block_numbers.lookup(&block)].loop = loop_numbers.lookup(loop_info.getLoopFor(&block));
  }
}

}  // namespace heddle::pass
