// SPDX-License-Identifier: Apache-2.0
//
// A loop that counts its rounds in a register (pass/loop_counters.h) adds one in each of them.
// Late, when all else has been optimised, a few rounds of such a loop are laid out one behind the
// other, and the addition is done once for all of them: the description of the count says at each
// instruction how much is to be added to the register.
#pragma once

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/PassManager.h"

namespace heddle::pass {

/// To be done with this loop at the end of link-time optimisation.
void count_rounds_together(llvm::Loop& loop);

class RoundsTogetherPass : public llvm::PassInfoMixin<RoundsTogetherPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace heddle::pass
