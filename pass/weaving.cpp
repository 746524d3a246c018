// SPDX-License-Identifier: Apache-2.0
#include "pass/weaving.h"

#include <cstdlib>

#include "abi/woven.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "pass/condition.h"

namespace heddle::pass {
namespace {

[[noreturn]] void refuse(const llvm::Twine& what) {
  llvm::report_fatal_error("heddle weaving: " + what, /*gen_crash_diag=*/false);
}

/// Where the call goes; null: nothing follows the instruction.
llvm::Instruction* insertion_point(const Site& site, bool after) {
  if (site.kind == abi::SiteKind::Function) {
    return &*site.instruction->getFunction()->getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
  }
  if (!after) return site.instruction;
  if (auto* const invoke = llvm::dyn_cast<llvm::InvokeInst>(site.instruction)) {
    // Where others come to as well (the head of a loop that waits) is not behind the call.
    llvm::BasicBlock* behind = invoke->getNormalDest();
    if (behind->getSinglePredecessor() == nullptr) {
      behind = llvm::SplitEdge(invoke->getParent(), behind);
    }
    return &*behind->getFirstInsertionPt();
  }
  return site.instruction->getNextNonDebugInstruction();
}

llvm::Value* address_of(const Site& site, llvm::IRBuilder<>& builder) {
  llvm::Value* address = accessed_pointer(*site.instruction, site.kind);
  if (address == nullptr) {
    // What a call is about is usually its first argument: a lock, a condition, memory to free.
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(site.instruction);
        call != nullptr && site.kind == abi::SiteKind::Call && !call->arg_empty() &&
        call->getArgOperand(0)->getType()->isPointerTy()) {
      address = call->getArgOperand(0);
    }
  }
  if (address == nullptr || address->getType() != builder.getPtrTy()) {
    return llvm::ConstantPointerNull::get(builder.getPtrTy());
  }
  return address;
}

/// The mutex that a wait for a condition gives back: its second argument, or what a
/// std::unique_lock there refers to. Null: the call is no such wait.
llvm::Value* mutex_of(const Site& site, llvm::IRBuilder<>& builder) {
  const auto* const call = llvm::dyn_cast<llvm::CallBase>(site.instruction);
  const llvm::Function* const callee = call != nullptr ? call->getCalledFunction() : nullptr;
  if (callee == nullptr || call->arg_size() < 2 ||
      !call->getArgOperand(1)->getType()->isPointerTy()) {
    return nullptr;
  }
  llvm::Value* const argument = call->getArgOperand(1);
  if (callee->getName().starts_with("pthread_cond_")) return argument;
  // std::condition_variable::wait(std::unique_lock<std::mutex>&), of libstdc++ and of libc++: a
  // lock begins with a pointer to its mutex, and that is a pthread_mutex_t.
  if (callee->getName().contains("condition_variable4wait")) {
    return builder.CreateLoad(builder.getPtrTy(), argument);
  }
  return nullptr;
}

class Weaver {
 public:
  Weaver(llvm::Module& module, llvm::ArrayRef<Site> sites) : module_(module), sites_(sites) {
    llvm::LLVMContext& context = module.getContext();
    hook_ = module.getOrInsertFunction("__heddle_woven_at", llvm::Type::getVoidTy(context),
                                       llvm::Type::getInt32Ty(context),
                                       llvm::PointerType::getUnqual(context));
    woken_hook_ = module.getOrInsertFunction("__heddle_woven_woken", hook_.getFunctionType());
  }

  /// One line of the file (abi/woven.h).
  void weave(llvm::StringRef line) {
    const auto [when, rest] = line.split(' ');
    const auto [site_text, tail] = rest.split(' ');
    const auto [place_text, condition] = tail.split(' ');
    abi::SiteId id = 0;
    unsigned place = 0;
    if (site_text.getAsInteger(10, id) || place_text.getAsInteger(10, place) ||
        id < abi::kFirstSite || id >= abi::kFirstSite + sites_.size()) {
      refuse("not understood: " + line);
    }
    const Site& site = sites_[id - abi::kFirstSite];
    if (when == "function") {
      weave_function(*site.instruction->getFunction(), place);
      return;
    }
    llvm::Instruction* at = insertion_point(site, when != "before" && when != "gives");
    if (at == nullptr) return;
    if (!condition.empty()) at = guard(*at, condition);
    llvm::IRBuilder<> builder(at);
    locate(builder);
    if (when == "takes" || when == "gives") {
      call_about_lock(builder, site, place, when == "takes");
      return;
    }
    if (when == "woken") {
      if (llvm::Value* const mutex = mutex_of(site, builder)) {
        builder.CreateCall(woken_hook_, {builder.getInt32(place), mutex});
      }
      return;
    }
    // Behind a call that frees memory its address is rightly that of freed memory.
    llvm::Value* const address = when == "after"
                                     ? llvm::ConstantPointerNull::get(builder.getPtrTy())
                                     : address_of(site, builder);
    builder.CreateCall(hook_, {builder.getInt32(place), address});
  }

  void embed_plan(llvm::StringRef plan) {
    llvm::Constant* const text = llvm::ConstantDataArray::getString(module_.getContext(), plan);
    auto* const variable =
        new llvm::GlobalVariable(module_, text->getType(), /*isConstant=*/true,
                                 llvm::GlobalValue::ExternalLinkage, text, "__heddle_woven_plan");
    variable->setVisibility(llvm::GlobalValue::HiddenVisibility);
  }

 private:
  llvm::Instruction* guard(llvm::Instruction& at, llvm::StringRef condition) {
    std::string problem;
    llvm::Instruction* const inside = insert_condition(at, condition, problem);
    if (inside == nullptr) refuse(problem);
    return inside;
  }

  /// Without a location a call in a function with debug information could not be inlined.
  void locate(llvm::IRBuilder<>& builder) {
    llvm::DISubprogram* const function = builder.GetInsertBlock()->getParent()->getSubprogram();
    if (builder.getCurrentDebugLocation() || function == nullptr) return;
    builder.SetCurrentDebugLocation(llvm::DILocation::get(module_.getContext(), 0, 0, function));
  }

  void call(llvm::IRBuilder<>& builder, const char* hook, unsigned scope, llvm::Value* about) {
    builder.CreateCall(module_.getOrInsertFunction(hook, hook_.getFunctionType()),
                       {builder.getInt32(scope), about});
  }

  void weave_function(llvm::Function& function, unsigned scope) {
    llvm::Value* const nothing =
        llvm::ConstantPointerNull::get(llvm::PointerType::getUnqual(module_.getContext()));
    llvm::IRBuilder<> entry(&*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    locate(entry);
    call(entry, "__heddle_woven_enter", scope, nothing);
    for (llvm::BasicBlock& block : function) {
      llvm::Instruction* end = block.getTerminator();
      if (!llvm::isa<llvm::ReturnInst, llvm::ResumeInst>(end)) continue;
      // Nothing may come between a musttail call and its return.
      if (llvm::CallInst* const tail = block.getTerminatingMustTailCall()) end = tail;
      llvm::IRBuilder<> exit(end);
      locate(exit);
      call(exit, "__heddle_woven_leave", scope, nothing);
    }
  }

  void call_about_lock(llvm::IRBuilder<>& builder, const Site& site, unsigned scope, bool takes) {
    llvm::Value* lock = address_of(site, builder);
    if (takes && site.instruction->getType()->isIntegerTy()) {
      llvm::Value* const has_it = builder.CreateIsNull(site.instruction);
      lock = builder.CreateSelect(has_it, lock, llvm::ConstantPointerNull::get(builder.getPtrTy()));
    }
    call(builder, takes ? "__heddle_woven_take" : "__heddle_woven_give", scope, lock);
  }

  llvm::Module& module_;
  llvm::ArrayRef<Site> sites_;
  llvm::FunctionCallee hook_;
  llvm::FunctionCallee woken_hook_;
};

}  // namespace

void weave_breakpoints(llvm::Module& module, llvm::ArrayRef<Site> sites) {
  const char* const name = std::getenv(HEDDLE_PASS_WEAVING);
  if (name == nullptr) return;
  const llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> file =
      llvm::MemoryBuffer::getFile(name, /*IsText=*/true);
  if (!file) refuse(llvm::Twine("cannot read ") + name);
  Weaver weaver(module, sites);
  llvm::StringRef text = (*file)->getBuffer();
  while (!text.empty()) {
    const auto [line, rest] = text.split('\n');
    text = rest;
    if (line == "plan") break;
    weaver.weave(line);
  }
  weaver.embed_plan(text);
}

}  // namespace heddle::pass
