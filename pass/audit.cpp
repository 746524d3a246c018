// SPDX-License-Identifier: Apache-2.0
#include "pass/audit.h"

#include "abi/names.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "pass/instrumenter.h"

namespace heddle::pass {
namespace {

using abi::SiteKind;

bool is_audited(const Site& site) {
  const abi::SharingVerdict verdict = abi::verdict_of(site.sharing);
  return !site.hooked &&
         (verdict == abi::SharingVerdict::Local || verdict == abi::SharingVerdict::ReadOnly);
}

bool writes(SiteKind kind) {
  return kind == SiteKind::Store || kind == SiteKind::AtomicStore || kind == SiteKind::AtomicRmw ||
         kind == SiteKind::AtomicCas || kind == SiteKind::RangeWrite;
}

void announce(const Site& site, Hooks& hooks) {
  Place place(site, hooks);
  const HookId hook =
      writes(site.kind) ? HookId::__heddle_audit_write : HookId::__heddle_audit_read;
  llvm::Value* verdict = place.builder.getInt32(static_cast<std::uint32_t>(site.sharing));
  for_each_range(place, [&](llvm::Value* pointer, llvm::Value* length) {
    hooks.call(place.builder, hook, {pointer, length, verdict, place.id()});
  });
}

/// The variables of one function.
class Lifetimes {
 public:
  Lifetimes(llvm::Function& function, abi::SiteId site, Hooks& hooks)
      : function_(function), site_(site), hooks_(hooks) {}

  void insert() {
    // Those of a coroutine that is not split yet will not be on its stack.
    if (function_.isPresplitCoroutine()) return;
    find();
    llvm::Instruction& first = *function_.getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
    for (const Variable& variable : variables_) {
      auto* place = llvm::dyn_cast<llvm::AllocaInst>(variable.address);
      const bool comes_late = place != nullptr && !place->comesBefore(&first);
      forget(variable, comes_late ? *place->getNextNode() : first);
    }
    for (llvm::AllocaInst* variable : dynamic_) {
      llvm::Instruction& next = *variable->getNextNode();
      llvm::Value* count = llvm::IRBuilder<>(&next).CreateZExtOrTrunc(
          variable->getArraySize(), llvm::Type::getInt64Ty(function_.getContext()));
      const std::uint64_t each = layout().getTypeAllocSize(variable->getAllocatedType());
      llvm::Value* bytes =
          llvm::IRBuilder<>(&next).CreateMul(count, llvm::ConstantInt::get(count->getType(), each));
      forget(variable, bytes, next);
    }
    for (llvm::IntrinsicInst* start : starts_) {
      forget(start->getArgOperand(1), start->getArgOperand(0), *start->getNextNode());
    }
    for (llvm::Instruction* end : ends_) {
      for (const Variable& variable : variables_) forget(variable, *end);
    }
  }

 private:
  struct Variable {
    llvm::Value* address;
    std::uint64_t bytes;
  };

  void find() {
    for (llvm::Argument& argument : function_.args()) {
      if (!argument.hasByValAttr()) continue;
      variables_.push_back({&argument, layout().getTypeAllocSize(argument.getParamByValType())});
    }
    for (llvm::Instruction& instruction : llvm::instructions(function_)) {
      if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) {
        add(*variable);
      } else if (auto* start = llvm::dyn_cast<llvm::LifetimeIntrinsic>(&instruction)) {
        if (start->getIntrinsicID() == llvm::Intrinsic::lifetime_start) starts_.push_back(start);
      } else if (llvm::isa<llvm::ReturnInst, llvm::ResumeInst>(instruction)) {
        // After a musttail call there can be nothing but the return.
        llvm::CallInst* tail = instruction.getParent()->getTerminatingMustTailCall();
        ends_.push_back(tail == nullptr ? &instruction : tail);
      }
    }
  }

  void add(llvm::AllocaInst& variable) {
    const std::optional<llvm::TypeSize> bytes = variable.getAllocationSize(layout());
    if (variable.isSwiftError() || (bytes && bytes->isScalable())) return;
    if (variable.isStaticAlloca() && bytes) {
      variables_.push_back({&variable, bytes->getFixedValue()});
    } else if (!layout().getTypeAllocSize(variable.getAllocatedType()).isScalable()) {
      dynamic_.push_back(&variable);
    }
  }

  void forget(const Variable& variable, llvm::Instruction& before) {
    llvm::Type* type = llvm::Type::getInt64Ty(function_.getContext());
    forget(variable.address, llvm::ConstantInt::get(type, variable.bytes), before);
  }

  void forget(llvm::Value* address, llvm::Value* bytes, llvm::Instruction& before) {
    llvm::IRBuilder<> builder(&before);
    if (llvm::DISubprogram* scope = function_.getSubprogram()) {
      builder.SetCurrentDebugLocation(llvm::DILocation::get(function_.getContext(), 0, 0, scope));
    }
    hooks_.call(builder, HookId::__heddle_audit_forget, {address, bytes, builder.getInt32(site_)});
  }

  const llvm::DataLayout& layout() const { return function_.getParent()->getDataLayout(); }

  llvm::Function& function_;
  abi::SiteId site_;
  Hooks& hooks_;
  llvm::SmallVector<Variable, 8> variables_;
  llvm::SmallVector<llvm::AllocaInst*, 2> dynamic_;
  llvm::SmallVector<llvm::IntrinsicInst*, 8> starts_;
  llvm::SmallVector<llvm::Instruction*, 2> ends_;
};

void begin_before_constructors(llvm::Module& module, Hooks& hooks) {
  llvm::LLVMContext& context = module.getContext();
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                          "heddle.audit_begin", module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", function));
  hooks.call(builder, HookId::__heddle_audit_begin, {builder.getInt32(abi::kUnknownSite)});
  builder.CreateRetVoid();
  llvm::appendToGlobalCtors(module, function, /*Priority=*/0);
}

}  // namespace

void insert_audit(llvm::Module& module, llvm::ArrayRef<Site> sites, const Structure& structure,
                  Hooks& hooks) {
  for (const Site& site : sites) {
    if (is_audited(site)) announce(site, hooks);
  }
  const auto resolvers = ifunc_resolvers(module);
  for (llvm::Function& function : module) {
    const auto known = structure.functions.find(&function);
    if (known == structure.functions.end() || resolvers.contains(&function)) continue;
    Lifetimes(function, known->second, hooks).insert();
  }
  begin_before_constructors(module, hooks);
}

}  // namespace heddle::pass
