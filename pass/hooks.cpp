// SPDX-License-Identifier: Apache-2.0
#include "pass/hooks.h"

#include <bit>
#include <vector>

#include "abi/abi.h"
#include "llvm/IR/Attributes.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

namespace heddle::pass {
namespace {

enum class HookType { Void, Ptr, U8, U16, U32, U64 };

struct HookRow {
  const char* symbol;
  HookType result;
  std::vector<HookType> arguments;
  llvm::CallingConv::ID convention = llvm::CallingConv::C;
};

const HookRow& row(HookId hook) {
  using enum HookType;
  static const std::vector<HookRow> rows = {
#define HEDDLE_HOOK(symbol, result, ...) {#symbol, result, {__VA_ARGS__}},
#define HEDDLE_ACCESS_HOOK(symbol, result, ...) \
  {#symbol, result, {__VA_ARGS__}, llvm::CallingConv::PreserveMost},
#include "abi/hooks.def"
  };
  return rows[static_cast<unsigned>(hook)];
}

llvm::Type* llvm_type(HookType type, llvm::LLVMContext& context) {
  switch (type) {
    case HookType::Void: return llvm::Type::getVoidTy(context);
    case HookType::Ptr: return llvm::PointerType::getUnqual(context);
    case HookType::U8: return llvm::Type::getInt8Ty(context);
    case HookType::U16: return llvm::Type::getInt16Ty(context);
    case HookType::U32: return llvm::Type::getInt32Ty(context);
    case HookType::U64: return llvm::Type::getInt64Ty(context);
  }
  llvm_unreachable("every hook type is listed");
}

// C compilers let the callee rely on narrow arguments being extended by the caller, and the other
// way round for results; LLVM does so only when told.
bool needs_extension(HookType type) {
  return type == HookType::U8 || type == HookType::U16;
}

// for_size() counts on the rows of a family being in order of size.
#define HEDDLE_FAMILY(family)                                                                     \
  static_assert(                                                                                  \
      static_cast<unsigned>(HookId::family##8) - static_cast<unsigned>(HookId::family##1) == 3 && \
      static_cast<unsigned>(HookId::family##4) - static_cast<unsigned>(HookId::family##2) == 1)
HEDDLE_FAMILY(__heddle_load);
HEDDLE_FAMILY(__heddle_store);
HEDDLE_FAMILY(__heddle_atomic_load);
HEDDLE_FAMILY(__heddle_atomic_store);
HEDDLE_FAMILY(__heddle_atomic_rmw);
HEDDLE_FAMILY(__heddle_atomic_cas);
#undef HEDDLE_FAMILY

}  // namespace

HookId for_size(HookId one_byte, std::uint64_t bytes) {
  assert(bytes <= 8 && std::has_single_bit(bytes));
  return static_cast<HookId>(static_cast<unsigned>(one_byte) + std::countr_zero(bytes));
}

llvm::FunctionCallee Hooks::declare(HookId hook) {
  auto [known, is_new] = declared_.try_emplace(hook);
  if (!is_new) return known->second;

  llvm::LLVMContext& context = module_.getContext();
  const HookRow& wanted = row(hook);
  std::vector<llvm::Type*> arguments;
  for (HookType argument : wanted.arguments) arguments.push_back(llvm_type(argument, context));
  auto* type = llvm::FunctionType::get(llvm_type(wanted.result, context), arguments, false);
  llvm::FunctionCallee callee = module_.getOrInsertFunction(wanted.symbol, type);
  if (auto* function = llvm::dyn_cast<llvm::Function>(callee.getCallee())) {
    function->setCallingConv(wanted.convention);
    // A hook switches threads, so nothing else may be assumed about what it does to memory.
    function->addFnAttr(llvm::Attribute::NoUnwind);
    // Lazy binding would run the dynamic linker's resolver at the first access of each kind.
    function->addFnAttr(llvm::Attribute::NonLazyBind);
    if (needs_extension(wanted.result)) function->addRetAttr(llvm::Attribute::ZExt);
    for (unsigned i = 0; i < wanted.arguments.size(); ++i) {
      if (needs_extension(wanted.arguments[i])) function->addParamAttr(i, llvm::Attribute::ZExt);
    }
  }
  known->second = callee;
  return callee;
}

llvm::Function& Hooks::function(HookId hook) {
  return *llvm::cast<llvm::Function>(declare(hook).getCallee());
}

void Hooks::call_instead(HookId hook, llvm::Function& front) {
  declared_[hook] = &front;
}

llvm::CallInst* Hooks::call(llvm::IRBuilderBase& builder, HookId hook,
                            llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::FunctionCallee callee = declare(hook);
  llvm::CallInst* call = builder.CreateCall(callee, arguments);
  if (auto* function = llvm::dyn_cast<llvm::Function>(callee.getCallee())) {
    call->setAttributes(function->getAttributes());
    call->setCallingConv(function->getCallingConv());
  }
  return call;
}

llvm::Constant* Hooks::external_variable(llvm::StringRef name, llvm::Type* type) {
  return module_.getOrInsertGlobal(name, type, [&] {
    return new llvm::GlobalVariable(module_, type, /*isConstant=*/false,
                                    llvm::GlobalValue::ExternalLinkage, nullptr, name);
  });
}

llvm::GlobalVariable& Hooks::call_site() {
  return *llvm::cast<llvm::GlobalVariable>(external_variable(
      HEDDLE_CALL_SITE_SYMBOL_NAME, llvm::Type::getInt32Ty(module_.getContext())));
}

// The runtime refers to the symbol, so the linker shows it to the runtime. Libraries may say it,
// too.
void Hooks::declare_native() {
  llvm::Type* type = llvm::Type::getInt8Ty(module_.getContext());
  auto* symbol = new llvm::GlobalVariable(
      module_, type, /*isConstant=*/true, llvm::GlobalValue::WeakAnyLinkage,
      llvm::ConstantInt::get(type, 1), HEDDLE_NATIVE_SYMBOL_NAME);
  llvm::appendToUsed(module_, {symbol});
}

void Hooks::require_abi_version() {
  llvm::Constant* symbol =
      external_variable(HEDDLE_ABI_SYMBOL_NAME, llvm::Type::getInt8Ty(module_.getContext()));
  // Writable data, so that the reference is an ordinary dynamic relocation also in programs that
  // are not position independent; in read-only data it would become a copy relocation.
  auto* reference =
      new llvm::GlobalVariable(module_, symbol->getType(), /*isConstant=*/false,
                               llvm::GlobalValue::PrivateLinkage, symbol, "heddle.abi_version");
  llvm::appendToUsed(module_, {reference});
}

}  // namespace heddle::pass
