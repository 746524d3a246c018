// SPDX-License-Identifier: Apache-2.0
#include "pass/fronts.h"

#include <string>

#include "llvm/IR/InlineAsm.h"

namespace heddle::pass {
namespace {

struct Front {
  HookId hook;
  const char* access;  // on the hook's arguments, where the calling convention has them
};

constexpr Front kFronts[] = {
    {HookId::__heddle_load1, "movzbl (%rdi), %eax"},
    {HookId::__heddle_load2, "movzwl (%rdi), %eax"},
    {HookId::__heddle_load4, "movl (%rdi), %eax"},
    {HookId::__heddle_load8, "movq (%rdi), %rax"},
    {HookId::__heddle_store1, "movb %sil, (%rdi)"},
    {HookId::__heddle_store2, "movw %si, (%rdi)"},
    {HookId::__heddle_store4, "movl %esi, (%rdi)"},
    {HookId::__heddle_store8, "movq %rsi, (%rdi)"},
    {HookId::__heddle_range_read, ""},
    {HookId::__heddle_range_write, ""},
};

// In assembly, because what goes on to the runtime must leave everything as the caller had it, the
// return address included: the compiler does not turn calls of this convention into jumps.
llvm::Function& make(llvm::Function& hook, const char* access, llvm::Constant& unheard) {
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
  const std::string text = std::string("cmpb $$0, ${0:c}(%rip)\n\tje 0f\n\t") + access +
                           "\n\tretq\n0:\tjmpq *" + hook.getName().str() + "@GOTPCREL(%rip)";
  auto* type = llvm::FunctionType::get(builder.getVoidTy(), {unheard.getType()}, false);
  builder.CreateCall(type, llvm::InlineAsm::get(type, text, "i", /*hasSideEffects=*/true),
                     {&unheard});
  builder.CreateUnreachable();
  return *front;
}

}  // namespace

void add_fronts(llvm::Constant& unheard, Hooks& hooks) {
  for (const Front& front : kFronts) {
    hooks.call_instead(front.hook, make(hooks.function(front.hook), front.access, unheard));
  }
}

}  // namespace heddle::pass
