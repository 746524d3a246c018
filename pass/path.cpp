// SPDX-License-Identifier: Apache-2.0
#include "pass/path.h"

#include "abi/names.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "pass/instrumenter.h"

namespace heddle::pass {
namespace {

using abi::SiteKind;

/// Works before `place`, with a location: without one a hook could not be told from code of a
/// function that was inlined.
struct Before : llvm::IRBuilder<> {
  explicit Before(llvm::Instruction& place) : llvm::IRBuilder<>(&place) {
    llvm::DISubprogram* const subprogram = place.getFunction()->getSubprogram();
    if (!place.getDebugLoc() && subprogram != nullptr) {
      SetCurrentDebugLocation(llvm::DILocation::get(place.getContext(), 0, 0, subprogram));
    }
  }
};

void tell_access(const Site& site, llvm::Instruction& behind, std::uint32_t number, Hooks& hooks) {
  Place place(site, hooks);
  place.builder.SetInsertPoint(&behind);
  llvm::Value* const instruction = place.builder.getInt32(number);
  const bool is_fixed = site.bytes != 0 && !llvm::isa<llvm::IntrinsicInst>(site.instruction);
  for_each_range(place, [&](llvm::Value* pointer, llvm::Value* length) {
    if (is_fixed) {
      hooks.call(place.builder, HookId::__heddle_path_access, {pointer, instruction});
    } else {
      hooks.call(place.builder, HookId::__heddle_path_range, {pointer, length, instruction});
    }
  });
}

class FunctionPath {
 public:
  FunctionPath(llvm::Function& function, const ProgramLayout& layout, Hooks& hooks)
      : function_(function), layout_(layout), hooks_(hooks) {
    llvm::BasicBlock& entry = function.getEntryBlock();
    Before builder(*entry.getFirstInsertionPt());
    frame_ = builder.CreateAlloca(builder.getInt8Ty(), nullptr, "heddle.frame");
  }

  /// Blocks by the number of their first instruction: some may have been split since.
  void insert(llvm::ArrayRef<std::pair<llvm::BasicBlock*, std::uint32_t>> blocks) {
    const std::uint32_t first = blocks.front().second;
    for (const auto& [block, number] : blocks) at_start(*block, number, first);
    for (llvm::Instruction& instruction :
         llvm::make_early_inc_range(llvm::instructions(function_))) {
      const std::uint32_t number = layout_.number_of(instruction);
      if (number == 0) continue;
      if (is_told_call(instruction)) {
        Before builder(instruction);
        hooks_.call(builder, HookId::__heddle_path_call, {builder.getInt32(number)});
        const auto& call = llvm::cast<llvm::CallBase>(instruction);
        if (call.hasFnAttr(llvm::Attribute::ReturnsTwice) && !instruction.isTerminator()) {
          tell_frame(HookId::__heddle_path_landed, *instruction.getNextNode(), number);
        }
      } else if (llvm::isa<llvm::ReturnInst, llvm::ResumeInst>(instruction)) {
        // Nothing may come between a musttail call and its return.
        llvm::CallInst* const tail = instruction.getParent()->getTerminatingMustTailCall();
        Before builder(tail == nullptr ? instruction : *tail);
        hooks_.call(builder, HookId::__heddle_path_exit, {builder.getInt32(number)});
      }
    }
  }

 private:
  void at_start(llvm::BasicBlock& block, std::uint32_t number, std::uint32_t first) {
    const bool is_entry = &block == &function_.getEntryBlock();
    const auto place = is_entry ? block.getFirstNonPHIOrDbgOrAlloca() : block.getFirstInsertionPt();
    if (place == block.end()) return;
    llvm::Instruction& before = *place;
    if (is_entry) tell_frame(HookId::__heddle_path_enter, before, first);
    if (block.isLandingPad()) tell_frame(HookId::__heddle_path_landed, before, number);
    Before builder(before);
    hooks_.call(builder, HookId::__heddle_path_block, {builder.getInt32(number)});
  }

  void tell_frame(HookId hook, llvm::Instruction& before, std::uint32_t number) {
    Before builder(before);
    llvm::CallInst* const call = hooks_.call(builder, hook, {frame_, builder.getInt32(number)});
    // Only its address counts; tail calls of this function stay possible.
    call->addParamAttr(0, llvm::Attribute::NoCapture);
    call->addParamAttr(0, llvm::Attribute::ReadNone);
  }

  llvm::Function& function_;
  const ProgramLayout& layout_;
  Hooks& hooks_;
  llvm::AllocaInst* frame_ = nullptr;  // its address tells invocations apart
};

}  // namespace

bool is_told_access(const Site& site) {
  switch (site.kind) {
    case SiteKind::Load:
    case SiteKind::Store:
    case SiteKind::AtomicLoad:
    case SiteKind::AtomicStore:
    case SiteKind::AtomicRmw:
    case SiteKind::AtomicCas:
    case SiteKind::RangeRead:
    case SiteKind::RangeWrite: return abi::verdict_of(site.sharing) != abi::SharingVerdict::None;
    default: return false;
  }
}

bool is_told_call(const llvm::Instruction& instruction) {
  return llvm::isa<llvm::CallBase>(instruction) && !llvm::isa<llvm::IntrinsicInst>(instruction);
}

void insert_path(const ProgramLayout& layout, llvm::ArrayRef<Site> sites, Hooks& hooks) {
  if (layout.functions().empty()) return;
  const auto resolvers = ifunc_resolvers(*layout.functions().front().function->getParent());
  // A copy is told twice, its read first.
  const llvm::Instruction* last = nullptr;
  llvm::Instruction* behind = nullptr;
  for (const Site& site : sites) {
    if (!is_told_access(site)) continue;
    if (site.instruction != last) behind = site.instruction->getNextNode();
    last = site.instruction;
    tell_access(site, *behind, layout.number_of(*site.instruction), hooks);
  }
  for (std::size_t i = 0; i < layout.functions().size(); ++i) {
    auto& function = const_cast<llvm::Function&>(*layout.functions()[i].function);
    if (resolvers.contains(&function)) continue;
    const std::size_t end = i + 1 < layout.functions().size()
                                ? layout.functions()[i + 1].first_block
                                : layout.blocks().size();
    std::vector<std::pair<llvm::BasicBlock*, std::uint32_t>> blocks;
    for (std::size_t b = layout.functions()[i].first_block; b < end; ++b) {
      const ProgramLayout::Block& block = layout.blocks()[b];
      blocks.emplace_back(const_cast<llvm::BasicBlock*>(block.block), block.first_instruction);
    }
    FunctionPath(function, layout, hooks).insert(blocks);
  }
}

}  // namespace heddle::pass
