// SPDX-License-Identifier: Apache-2.0
//
// Numbers for functions, blocks, loops and instructions, given before anything is changed: every
// variant made from the same bitcode counts alike, and a number read from one (a loop counter in a
// core, a discriminator in a line table) means the same in all.
#pragma once

#include <cstdint>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/DebugLoc.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Module.h"

namespace heddle::pass {

class ProgramLayout {
 public:
  struct Function {
    const llvm::Function* function;
    std::uint32_t first_block;
  };
  struct Block {
    const llvm::BasicBlock* block;
    std::uint32_t first_instruction;
    std::uint32_t loop;  // 1 + index of the innermost one; 0: none
  };
  struct Loop {
    std::uint32_t parent;  // 1 + index; 0: none
    std::uint32_t header;  // index of its block
    llvm::DebugLoc place;
  };

  explicit ProgramLayout(llvm::Module& module);

  const std::vector<Function>& functions() const { return functions_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  const std::vector<Loop>& loops() const { return loops_; }

  /// Counted from 1. Instructions that only describe (debug intrinsics) have none: 0.
  std::uint32_t number_of(const llvm::Instruction& instruction) const {
    return numbers_.lookup(&instruction);
  }

 private:
  void add_function(llvm::Function& function);

  std::vector<Function> functions_;
  std::vector<Block> blocks_;
  std::vector<Loop> loops_;
  llvm::DenseMap<const llvm::Instruction*, std::uint32_t> numbers_;
};

}  // namespace heddle::pass
