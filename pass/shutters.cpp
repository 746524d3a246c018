// SPDX-License-Identifier: Apache-2.0
#include "pass/shutters.h"

#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

namespace heddle::pass {
namespace {

// The way without a hook is the one that has to be quick: the other calls anyway, and what it needs
// of registers is saved there.
constexpr std::uint32_t kClosedWeight = 2000;
constexpr std::uint32_t kOpenWeight = 1;

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
  auto* type = llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), sites.size());
  bytes_ = new llvm::GlobalVariable(module, type, /*isConstant=*/false,
                                    llvm::GlobalValue::InternalLinkage,
                                    llvm::ConstantAggregateZero::get(type), "heddle.shutters");
  show_before_constructors(module, *bytes_, sites.size(), first_, hooks);
}

Shutters::Ways Shutters::split(const Site& site) {
  llvm::IRBuilder<> builder(site.instruction);
  llvm::LLVMContext& context = builder.getContext();
  llvm::Value* byte =
      builder.CreateConstInBoundsGEP2_64(bytes_->getValueType(), bytes_, 0, site.id - first_);
  llvm::LoadInst* state = builder.CreateLoad(builder.getInt8Ty(), byte);
  // Nobody changes it once the program's own code runs, so that a loop may look once.
  state->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context, {}));
  llvm::Value* is_closed = builder.CreateICmpNE(state, builder.getInt8(0));
  Ways ways{};
  llvm::MDNode* weights = llvm::MDBuilder(context).createBranchWeights(kClosedWeight, kOpenWeight);
  llvm::SplitBlockAndInsertIfThenElse(is_closed, site.instruction->getIterator(), &ways.closed,
                                      &ways.open, weights);
  return ways;
}

}  // namespace heddle::pass
