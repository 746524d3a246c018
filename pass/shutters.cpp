// SPDX-License-Identifier: Apache-2.0
#include "pass/shutters.h"

#include <bit>

#include "llvm/IR/Constants.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "pass/fronts.h"

namespace heddle::pass {
namespace {

// A way that is said to be unlikely is put far away. Both are to be quick, and left to itself the
// optimiser takes a byte for unlikely to be 0.
constexpr std::uint32_t kClosedWeight = 1;
constexpr std::uint32_t kOpenWeight = 3;

void show_before_constructors(llvm::Module& module, llvm::GlobalVariable& bytes,
                              std::uint64_t count, abi::SiteId first, Hooks& hooks) {
  llvm::LLVMContext& context = module.getContext();
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                          "heddle.show_shutters", module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", function));
  hooks.call(builder, HookId::__heddle_shutters,
             {&bytes, builder.getInt64(count), builder.getInt32(first)});
  builder.CreateRetVoid();
  llvm::appendToGlobalCtors(module, function, /*Priority=*/0);
}

}  // namespace

Shutters::Shutters(llvm::Module& module, llvm::ArrayRef<Site> sites, Hooks& hooks) {
  if (sites.empty()) return;
  first_ = sites.front().id;
  // Behind the last there is the one that fronts have, and what a word that begins at it may hold.
  auto* type = llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()),
                                    sites.size() + Stretch::kSites);
  bytes_ = new llvm::GlobalVariable(module, type, /*isConstant=*/false,
                                    llvm::GlobalValue::InternalLinkage,
                                    llvm::ConstantAggregateZero::get(type), "heddle.shutters");
  show_before_constructors(module, *bytes_, sites.size(), first_, hooks);
  add_fronts(*bytes_, sites.size(), first_, hooks);
}

void Shutters::bypass(const Stretch& stretch) {
  llvm::BasicBlock* before = stretch.first->getParent();
  llvm::BasicBlock* open = before->splitBasicBlock(stretch.first, "open");
  llvm::BasicBlock* behind = open->splitBasicBlock(stretch.last->getNextNode(), "behind");
  llvm::ValueToValueMapTy copies;
  llvm::BasicBlock* closed = llvm::CloneBasicBlock(open, copies, "", open->getParent());
  closed->setName("closed");
  closed->moveBefore(behind);
  llvm::remapInstructionsInBlocks({closed}, copies);

  for (llvm::Instruction& instruction : *open) {
    if (!instruction.isUsedOutsideOfBlock(open)) continue;
    auto* either = llvm::PHINode::Create(instruction.getType(), 2, "", behind->begin());
    either->setDebugLoc(instruction.getDebugLoc());
    instruction.replaceUsesOutsideBlock(either, open);
    either->takeName(&instruction);
    either->addIncoming(&instruction, open);
    either->addIncoming(copies[&instruction], closed);
  }

  llvm::IRBuilder<> builder(before->getTerminator());
  llvm::MDNode* weights =
      llvm::MDBuilder(builder.getContext()).createBranchWeights(kClosedWeight, kOpenWeight);
  builder.CreateCondBr(are_all_closed(builder, stretch), closed, open, weights);
  before->getTerminator()->eraseFromParent();
}

llvm::Value* Shutters::are_all_closed(llvm::IRBuilderBase& builder, const Stretch& stretch) {
  llvm::Value* first = builder.CreateConstInBoundsGEP2_64(bytes_->getValueType(), bytes_, 0,
                                                          stretch.first_site - first_);
  const unsigned sites = std::bit_ceil(static_cast<unsigned>(std::bit_width(stretch.members)));
  // An ordinary load, to be done in place: hooks may change it (a look begins or ends), and a
  // loop's shutters, looked at before it, took all registers and went to the stack.
  llvm::Type* word = builder.getIntNTy(8 * sites);
  llvm::Value* state = builder.CreateAlignedLoad(word, first, llvm::Align(1));
  const unsigned members = stretch.members;
  std::uint64_t closed = 0;
  for (unsigned site = 0; site < sites; ++site) closed |= (members >> site & 1ULL) << (8 * site);
  llvm::Value* all = llvm::ConstantInt::get(word, closed);
  if (members != (1U << sites) - 1) state = builder.CreateAnd(state, all);
  return builder.CreateICmpEQ(state, all);
}

}  // namespace heddle::pass
