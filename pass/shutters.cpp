// SPDX-License-Identifier: Apache-2.0
#include "pass/shutters.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
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
  auto* type = llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), sites.size() + 1);
  bytes_ = new llvm::GlobalVariable(module, type, /*isConstant=*/false,
                                    llvm::GlobalValue::InternalLinkage,
                                    llvm::ConstantAggregateZero::get(type), "heddle.shutters");
  show_before_constructors(module, *bytes_, sites.size(), first_, hooks);
  auto* index = llvm::Type::getInt64Ty(module.getContext());
  add_fronts(*llvm::ConstantExpr::getInBoundsGetElementPtr(
                 type, bytes_,
                 llvm::ArrayRef<llvm::Constant*>{llvm::ConstantInt::get(index, 0),
                                                 llvm::ConstantInt::get(index, sites.size())}),
             hooks);
}

Shutters::Ways Shutters::split(const Site& site) {
  llvm::IRBuilder<> builder(site.instruction);
  llvm::Value* byte =
      builder.CreateConstInBoundsGEP2_64(bytes_->getValueType(), bytes_, 0, site.id - first_);
  // An ordinary load, to be done in place: hooks may change it (a look begins or ends), and a
  // loop's shutters, looked at before it, took all registers and went to the stack.
  llvm::Value* state = builder.CreateLoad(builder.getInt8Ty(), byte);
  llvm::Value* is_closed = builder.CreateICmpNE(state, builder.getInt8(0));
  Ways ways{};
  llvm::MDNode* weights =
      llvm::MDBuilder(builder.getContext()).createBranchWeights(kClosedWeight, kOpenWeight);
  llvm::SplitBlockAndInsertIfThenElse(is_closed, site.instruction->getIterator(), &ways.closed,
                                      &ways.open, weights);
  return ways;
}

}  // namespace heddle::pass
