// SPDX-License-Identifier: Apache-2.0
#include "pass/steps.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "pass/quiet_code.h"

namespace heddle::pass {
namespace {

using abi::Variant;

class FunctionSteps {
 public:
  FunctionSteps(llvm::Function& function, const Structure& structure, const QuietCode& quiet,
                const Variant& variant, Hooks& hooks)
      : function_(function),
        structure_(structure),
        variant_(variant),
        hooks_(hooks),
        dominators_(function),
        loops_(dominators_) {
    if (variant.has(Variant::Loops)) find_loops(quiet);
  }

  void insert() {
    if (needs_frame()) make_frame();
    for (llvm::BasicBlock& block : function_) at_start(block);
    if (frame_ != nullptr) announce_second_returns();
    if (variant_.has(Variant::Branches)) announce_branches();
    if (frame_ != nullptr) announce_exits();
  }

 private:
  // Loops that rewriting has made (retries of an atomic update) are no loops of the program. Asked
  // before this function has any hook of a step, which is none of what a round is told for.
  void find_loops(const QuietCode& quiet) {
    for (const llvm::Loop* loop : loops_.getLoopsInPreorder()) {
      const auto found = structure_.loops.find(loop->getHeader());
      if (found == structure_.loops.end() || quiet.holds(*loop)) continue;
      told_loops_[loop] = found->second;
    }
  }

  std::optional<abi::SiteId> site_of(const llvm::Loop& loop) const {
    const auto found = told_loops_.find(&loop);
    if (found == told_loops_.end()) return std::nullopt;
    return found->second;
  }

  static bool returns_twice(const llvm::Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    return call != nullptr && call->hasFnAttr(llvm::Attribute::ReturnsTwice);
  }

  /// Where exceptions and longjmp may end up, entries and exits are needed to tell which loops of
  /// other functions are left by them, whether or not the variant shows them.
  bool needs_frame() const {
    if (variant_.has(Variant::Calls)) return true;
    return variant_.has(Variant::Loops) &&
           (llvm::any_of(function_, [](llvm::BasicBlock& block) { return block.isLandingPad(); }) ||
            llvm::any_of(llvm::instructions(function_), returns_twice));
  }

  void make_frame() {
    llvm::BasicBlock& entry = function_.getEntryBlock();
    llvm::IRBuilder<> builder(&entry, entry.getFirstInsertionPt());
    frame_ = builder.CreateAlloca(builder.getInt8Ty(), nullptr, "heddle.frame");
  }

  void call_with_frame(llvm::IRBuilder<>& builder, HookId hook, abi::SiteId site) {
    llvm::CallInst* call = hooks_.call(builder, hook, {frame_, builder.getInt32(site)});
    // Only its address counts; tail calls of this function stay possible.
    call->addParamAttr(0, llvm::Attribute::NoCapture);
    call->addParamAttr(0, llvm::Attribute::ReadNone);
  }

  abi::SiteId innermost_region(llvm::BasicBlock& block) const {
    for (const llvm::Loop* loop = loops_.getLoopFor(&block); loop != nullptr;
         loop = loop->getParentLoop()) {
      if (const std::optional<abi::SiteId> site = site_of(*loop)) return *site;
    }
    return function_site();
  }

  void announce_second_returns() {
    for (llvm::Instruction& instruction :
         llvm::make_early_inc_range(llvm::instructions(function_))) {
      if (!returns_twice(instruction)) continue;
      llvm::IRBuilder<> builder(instruction.getNextNode());
      locate(builder, instruction);
      call_with_frame(builder, HookId::__heddle_landed, innermost_region(*instruction.getParent()));
    }
  }

  // A hook without a location could not be told from code of a function that was inlined.
  void locate(llvm::IRBuilder<>& builder, const llvm::Instruction& near) {
    llvm::DISubprogram* subprogram = function_.getSubprogram();
    if (near.getDebugLoc()) {
      builder.SetCurrentDebugLocation(near.getDebugLoc());
    } else if (subprogram != nullptr) {
      builder.SetCurrentDebugLocation(
          llvm::DILocation::get(function_.getContext(), 0, 0, subprogram));
    }
  }

  // 1 on the edges into `block` for which `holds`, else 0.
  template <typename Holds>
  llvm::Value* on_edges(llvm::BasicBlock& block, Holds holds) {
    llvm::Type* type = llvm::Type::getInt32Ty(block.getContext());
    llvm::SmallVector<llvm::BasicBlock*, 8> from(llvm::predecessors(&block));
    if (llvm::all_of(from, holds)) return llvm::ConstantInt::get(type, 1);
    auto* phi = llvm::PHINode::Create(type, from.size(), "heddle.edge", block.begin());
    for (llvm::BasicBlock* predecessor : from) {
      phi->addIncoming(llvm::ConstantInt::get(type, holds(predecessor) ? 1 : 0), predecessor);
    }
    return phi;
  }

  // Loops that some edge into `block` leaves, innermost first.
  llvm::SmallVector<const llvm::Loop*, 4> left_at(llvm::BasicBlock& block) const {
    llvm::SmallVector<const llvm::Loop*, 4> left;
    for (llvm::BasicBlock* predecessor : llvm::predecessors(&block)) {
      for (const llvm::Loop* loop = loops_.getLoopFor(predecessor); loop != nullptr;
           loop = loop->getParentLoop()) {
        if (loop->contains(&block) || llvm::is_contained(left, loop)) continue;
        left.push_back(loop);
      }
    }
    // Of loops side by side, at most one is left at a time; only the text of the code is at stake.
    const auto order = [this](const llvm::Loop* loop) {
      return std::pair(-static_cast<long>(loop->getLoopDepth()),
                       structure_.loops.lookup(loop->getHeader()));
    };
    llvm::sort(left, [&](const auto* a, const auto* b) { return order(a) < order(b); });
    return left;
  }

  void at_start(llvm::BasicBlock& block) {
    const auto place = &block == &function_.getEntryBlock() ? block.getFirstNonPHIOrDbgOrAlloca()
                                                            : block.getFirstInsertionPt();
    if (place == block.end()) return;
    llvm::IRBuilder<> builder(&block, place);
    locate(builder, *place);
    const bool is_landing = block.isLandingPad() && frame_ != nullptr;
    if (is_landing) call_with_frame(builder, HookId::__heddle_landed, innermost_region(block));
    for (const llvm::Loop* loop : left_at(block)) {
      if (is_landing) break;
      const std::optional<abi::SiteId> site = site_of(*loop);
      if (!site) continue;
      llvm::Value* was_inside =
          on_edges(block, [&](llvm::BasicBlock* from) { return loop->contains(from); });
      hooks_.call(builder, HookId::__heddle_loop_exit, {was_inside, builder.getInt32(*site)});
    }
    if (&block == &function_.getEntryBlock() && frame_ != nullptr) {
      call_with_frame(builder, HookId::__heddle_call_enter, function_site());
    }
    if (const llvm::Loop* loop = loops_.getLoopFor(&block);
        loop != nullptr && loop->getHeader() == &block) {
      if (const std::optional<abi::SiteId> site = site_of(*loop)) {
        llvm::Value* is_first =
            on_edges(block, [&](llvm::BasicBlock* from) { return !loop->contains(from); });
        hooks_.call(builder, HookId::__heddle_loop_iteration, {is_first, builder.getInt32(*site)});
      }
    }
    const auto block_site = structure_.blocks.find(&block);
    if (variant_.has(Variant::Blocks) && block_site != structure_.blocks.end()) {
      hooks_.call(builder, HookId::__heddle_block, {builder.getInt32(block_site->second)});
    }
  }

  abi::SiteId function_site() const { return structure_.functions.lookup(&function_); }

  void announce_branches() {
    for (llvm::BasicBlock& block : function_) {
      llvm::Instruction& terminator = *block.getTerminator();
      const auto site = structure_.branches.find(&terminator);
      if (site == structure_.branches.end()) continue;
      llvm::IRBuilder<> builder(&terminator);
      locate(builder, terminator);
      auto* branch = llvm::dyn_cast<llvm::BranchInst>(&terminator);
      llvm::Value* condition = branch != nullptr
                                   ? branch->getCondition()
                                   : llvm::cast<llvm::SwitchInst>(terminator).getCondition();
      llvm::Value* value = builder.CreateZExtOrTrunc(condition, builder.getInt64Ty());
      hooks_.call(builder, HookId::__heddle_branch, {value, builder.getInt32(site->second)});
    }
  }

  // Nothing may come between a musttail call and its return: the caller's frame is gone by then,
  // and so is the caller.
  void announce_exits() {
    for (llvm::BasicBlock& block : function_) {
      llvm::Instruction* end = block.getTerminator();
      if (!llvm::isa<llvm::ReturnInst, llvm::ResumeInst>(end)) continue;
      if (llvm::CallInst* tail = block.getTerminatingMustTailCall()) end = tail;
      llvm::IRBuilder<> builder(end);
      locate(builder, *end);
      hooks_.call(builder, HookId::__heddle_call_exit, {builder.getInt32(function_site())});
    }
  }

  llvm::Function& function_;
  const Structure& structure_;
  const Variant& variant_;
  Hooks& hooks_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  llvm::DenseMap<const llvm::Loop*, abi::SiteId> told_loops_;
  llvm::AllocaInst* frame_ = nullptr;  // its address tells invocations apart
};

}  // namespace

void insert_steps(llvm::Module& module, const Structure& structure, const Variant& variant,
                  Hooks& hooks) {
  if (variant.extras == 0) return;
  const QuietCode quiet(module, variant);
  const auto resolvers = ifunc_resolvers(module);
  for (llvm::Function& function : module) {
    if (!structure.functions.contains(&function) || resolvers.contains(&function)) continue;
    FunctionSteps(function, structure, quiet, variant, hooks).insert();
  }
}

}  // namespace heddle::pass
