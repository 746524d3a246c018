// SPDX-License-Identifier: Apache-2.0
#include "pass/loop_counters.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace heddle::pass {
namespace {

// The same constant is added on every way round.
bool is_counter_of(const llvm::PHINode& phi, const llvm::Loop& loop) {
  if (!phi.getType()->isIntegerTy()) return false;
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    if (!loop.contains(phi.getIncomingBlock(i))) continue;
    const auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(phi.getIncomingValue(i));
    if (sum == nullptr || sum->getOpcode() != llvm::Instruction::Add ||
        sum->getOperand(0) != &phi) {
      return false;
    }
    const auto* step = llvm::dyn_cast<llvm::ConstantInt>(sum->getOperand(1));
    if (step == nullptr || step->isZero()) return false;
  }
  return true;
}

bool is_described(llvm::PHINode& phi) {
  llvm::SmallVector<llvm::DbgVariableIntrinsic*, 2> intrinsics;
  llvm::SmallVector<llvm::DbgVariableRecord*, 2> records;
  llvm::findDbgUsers(intrinsics, &phi, &records);
  return !intrinsics.empty() || !records.empty();
}

bool counts_itself(const llvm::Loop& loop) {
  return llvm::any_of(loop.getHeader()->phis(), [&](llvm::PHINode& phi) {
    return is_counter_of(phi, loop) && is_described(phi);
  });
}

llvm::AllocaInst* make_variable(llvm::Function& function, abi::SiteId site,
                                llvm::DIBuilder& debug) {
  llvm::BasicBlock& entry = function.getEntryBlock();
  llvm::IRBuilder<> builder(&entry, entry.getFirstInsertionPt());
  llvm::AllocaInst* variable =
      builder.CreateAlloca(builder.getInt64Ty(), nullptr, "heddle.loop_count");
  llvm::DISubprogram* scope = function.getSubprogram();
  llvm::DIType* type = debug.createBasicType("unsigned long", 64, llvm::dwarf::DW_ATE_unsigned);
  llvm::DILocalVariable* description = debug.createAutoVariable(
      scope, "__heddle_loop_" + std::to_string(site), scope->getFile(), scope->getLine(), type,
      /*AlwaysPreserve=*/true, llvm::DINode::FlagArtificial);
  debug.insertDeclare(variable, description, debug.createExpression(),
                      llvm::DILocation::get(function.getContext(), scope->getLine(), 0, scope),
                      &*builder.GetInsertPoint());
  return variable;
}

void count(const llvm::Loop& loop, llvm::AllocaInst& variable) {
  llvm::BasicBlock& header = *loop.getHeader();
  llvm::IRBuilder<> builder(&header, header.getFirstInsertionPt());
  builder.SetCurrentDebugLocation(
      llvm::DILocation::get(header.getContext(), 0, 0, header.getParent()->getSubprogram()));
  auto* iteration = llvm::PHINode::Create(builder.getInt64Ty(), llvm::pred_size(&header),
                                          "heddle.iteration", header.begin());
  builder.CreateStore(iteration, &variable, /*isVolatile=*/true);
  llvm::Value* next = builder.CreateAdd(iteration, builder.getInt64(1));
  for (llvm::BasicBlock* from : llvm::predecessors(&header)) {
    iteration->addIncoming(loop.contains(from) ? next : builder.getInt64(0), from);
  }
}

void count_loops(llvm::Function& function, const Structure& structure, llvm::DIBuilder& debug) {
  const llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (loop->getHeader()->isEHPad() || counts_itself(*loop)) continue;
    const abi::SiteId site = structure.loops.lookup(loop->getHeader());
    count(*loop, *make_variable(function, site, debug));
  }
}

}  // namespace

void insert_loop_counters(llvm::Module& module, const Structure& structure) {
  llvm::DIBuilder debug(module, /*AllowUnresolved=*/false);
  for (llvm::Function& function : module) {
    // Without debug information nobody could find the counters.
    if (!structure.functions.contains(&function) || function.getSubprogram() == nullptr) continue;
    count_loops(function, structure, debug);
  }
  debug.finalize();
}

}  // namespace heddle::pass
