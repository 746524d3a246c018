// SPDX-License-Identifier: Apache-2.0
#include "pass/fronts.h"

#include <initializer_list>
#include <string>

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InlineAsm.h"

namespace heddle::pass {
namespace {

struct Front {
  HookId hook;
  const char* access;  // on the hook's arguments, where the calling convention has them
  const char* site;
};

constexpr Front kFronts[] = {
    {HookId::__heddle_load1, "movzbl (%rdi), %eax", "%esi"},
    {HookId::__heddle_load2, "movzwl (%rdi), %eax", "%esi"},
    {HookId::__heddle_load4, "movl (%rdi), %eax", "%esi"},
    {HookId::__heddle_load8, "movq (%rdi), %rax", "%esi"},
    {HookId::__heddle_store1, "movb %sil, (%rdi)", "%edx"},
    {HookId::__heddle_store2, "movw %si, (%rdi)", "%edx"},
    {HookId::__heddle_store4, "movl %esi, (%rdi)", "%edx"},
    {HookId::__heddle_store8, "movq %rsi, (%rdi)", "%edx"},
    {HookId::__heddle_range_read, "", "%edx"},
    {HookId::__heddle_range_write, "", "%edx"},
};

/// What fronts look at.
struct Shown {
  llvm::Constant* unheard;    // the byte that is 0 while somebody listens
  llvm::Constant* shutter_0;  // holds where the shutter of a site 0 would be
};

// In assembly, because what goes on to the runtime must leave everything as the caller had it, the
// return address included: the compiler does not turn calls of this convention into jumps. r11 is
// free.
std::string text(const Front& front, llvm::StringRef hook) {
  return llvm::join(
      std::initializer_list<std::string>{
          "cmpb $$0, ${0:c}(%rip)",
          "je 0f",
          std::string("1: ") + front.access,
          "retq",
          std::string("0: movl ") + front.site + ", %r11d",
          "addq ${1:c}(%rip), %r11",
          "cmpb $$0, (%r11)",
          "jne 1b",
          "jmpq *" + hook.str() + "@GOTPCREL(%rip)",
      },
      "\n\t");
}

llvm::Function& make(llvm::Function& hook, const Front& row, const Shown& shown) {
  llvm::LLVMContext& context = hook.getContext();
  auto* front = llvm::Function::Create(
      hook.getFunctionType(), llvm::GlobalValue::InternalLinkage,
      "heddle.front" + hook.getName().substr(llvm::StringRef("__heddle").size()),
      *hook.getParent());
  front->setCallingConv(hook.getCallingConv());
  front->setAttributes(hook.getAttributes());
  for (const auto kind : {llvm::Attribute::Naked, llvm::Attribute::NoInline}) {
    front->addFnAttr(kind);
  }
  // Whoever looks at a stack from outside may find a thread here.
  front->setUWTableKind(llvm::UWTableKind::Default);
  front->setAlignment(llvm::Align(16));
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", front));
  auto* type =
      llvm::FunctionType::get(builder.getVoidTy(), {builder.getPtrTy(), builder.getPtrTy()}, false);
  builder.CreateCall(
      type, llvm::InlineAsm::get(type, text(row, hook.getName()), "i,i", /*hasSideEffects=*/true),
      {shown.unheard, shown.shutter_0});
  builder.CreateUnreachable();
  return *front;
}

Shown show(llvm::GlobalVariable& shutters, std::uint64_t count, abi::SiteId first) {
  llvm::Module& module = *shutters.getParent();
  llvm::Type* byte = llvm::Type::getInt8Ty(module.getContext());
  const auto at = [&](std::int64_t index) {
    return llvm::ConstantExpr::getGetElementPtr(
        byte, &shutters,
        llvm::ConstantInt::getSigned(llvm::Type::getInt64Ty(module.getContext()), index));
  };
  auto* shutter_0 = new llvm::GlobalVariable(
      module, shutters.getType(), /*isConstant=*/true, llvm::GlobalValue::InternalLinkage,
      at(-static_cast<std::int64_t>(first)), "heddle.shutter_0");
  return {at(static_cast<std::int64_t>(count)), shutter_0};
}

}  // namespace

void add_fronts(llvm::GlobalVariable& shutters, std::uint64_t count, abi::SiteId first,
                Hooks& hooks) {
  const Shown shown = show(shutters, count, first);
  for (const Front& front : kFronts) {
    hooks.call_instead(front.hook, make(hooks.function(front.hook), front, shown));
  }
}

}  // namespace heddle::pass
