// SPDX-License-Identifier: Apache-2.0
#include "pass/rounds_together.h"

#include <algorithm>

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"
#include "pass/needed_value.h"

namespace heddle::pass {
namespace {

constexpr const char* kMark = "heddle.loop.counted";

/// How many rounds there is room for.
unsigned rounds_of(const llvm::Loop& loop) {
  constexpr std::size_t kInstructions = 96;
  constexpr std::size_t kMost = 8;
  std::size_t instructions = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) instructions += block->sizeWithoutDebug();
  return static_cast<unsigned>(
      std::min(kInstructions / std::max<std::size_t>(instructions, 1), kMost));
}

/// Loops that look for something or add something up go round often; those that write are as
/// likely to do so once or twice (bits that are full), and would only leave in more places.
bool only_looks(const llvm::Loop& loop) {
  return llvm::none_of(loop.blocks(), [](const llvm::BasicBlock* block) {
    return llvm::any_of(*block, [](const llvm::Instruction& instruction) {
      return instruction.mayWriteToMemory();
    });
  });
}

/// Nobody looks at it, it must only be alive.
bool is_only_needed(const llvm::PHINode& value, int depth = 3) {
  return depth > 0 && llvm::all_of(value.users(), [&](const llvm::User* user) {
           const auto* behind = llvm::dyn_cast<llvm::PHINode>(user);
           return behind == nullptr ? is_need(*user) : is_only_needed(*behind, depth - 1);
         });
}

/// Where the loop is left between two additions the count that is alive anyway is as good.
void leave_with_what_is_there(llvm::Loop& loop) {
  llvm::SmallVector<llvm::BasicBlock*, 8> exits;
  loop.getUniqueExitBlocks(exits);
  for (llvm::BasicBlock* exit : exits) {
    for (llvm::PHINode& behind : exit->phis()) {
      if (!is_only_needed(behind)) continue;
      for (llvm::Use& use : behind.incoming_values()) {
        auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(use);
        if (sum == nullptr || sum->getOpcode() != llvm::Instruction::Add) continue;
        auto* count = llvm::dyn_cast<llvm::PHINode>(sum->getOperand(0));
        if (count == nullptr || count->getParent() != loop.getHeader() ||
            count->getIncomingValueForBlock(loop.getLoopLatch()) == sum) {
          continue;
        }
        use.set(count);
        // What is described by it is described by the count from now on.
        llvm::RecursivelyDeleteTriviallyDeadInstructions(sum);
      }
    }
  }
}

}  // namespace

void count_rounds_together(llvm::Loop& loop) {
  // Who does not want it unrolled has said so to the compiler.
  if (llvm::hasUnrollTransformation(&loop) == llvm::TM_SuppressedByUser ||
      loop.getHeader()->getParent()->hasOptSize()) {
    return;
  }
  llvm::addStringMetadataToLoop(&loop, kMark, 1);
}

llvm::PreservedAnalyses RoundsTogetherPass::run(llvm::Function& function,
                                                llvm::FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  llvm::SmallVector<llvm::Loop*, 8> counted;
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (llvm::getBooleanLoopAttribute(loop, kMark) && loop->isInnermost() &&
        loop->isSafeToClone() && only_looks(*loop) && rounds_of(*loop) > 1) {
      counted.push_back(loop);
    }
  }
  if (counted.empty()) return llvm::PreservedAnalyses::all();
  auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  auto& assumptions = analyses.getResult<llvm::AssumptionAnalysis>(function);
  auto& target = analyses.getResult<llvm::TargetIRAnalysis>(function);
  auto& remarks = analyses.getResult<llvm::OptimizationRemarkEmitterAnalysis>(function);
  for (llvm::Loop* loop : counted) {
    llvm::simplifyLoop(loop, &dominators, &loops, &evolution, &assumptions, nullptr,
                       /*PreserveLCSSA=*/false);
    llvm::formLCSSARecursively(*loop, dominators, &loops, &evolution);
    if (!loop->isInnermost()) continue;  // it was two loops with one beginning
    const llvm::UnrollLoopOptions options = {rounds_of(*loop),
                                             /*Force=*/true,
                                             /*Runtime=*/false,
                                             /*AllowExpensiveTripCount=*/false,
                                             /*UnrollRemainder=*/false,
                                             /*ForgetAllSCEV=*/false};
    const auto done = llvm::UnrollLoop(loop, options, &loops, &evolution, &dominators, &assumptions,
                                       &target, &remarks,
                                       /*PreserveLCSSA=*/true);
    if (done == llvm::LoopUnrollResult::PartiallyUnrolled) leave_with_what_is_there(*loop);
  }
  return llvm::PreservedAnalyses::none();
}

}  // namespace heddle::pass
