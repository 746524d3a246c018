// SPDX-License-Identifier: Apache-2.0
#include "pass/repeats.h"

#include <optional>

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "pass/selection.h"

namespace heddle::pass {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::PHINode;
using llvm::Value;

/// A loop whose end can be reached without its body.
struct Repeat {
  abi::SiteId site;
  BasicBlock* header;
  Instruction* end;                              // where it begins to compute whether to go on
  llvm::SmallVector<PHINode*, 4> driven;         // of the header: what that depends on
  llvm::SmallVector<Instruction*, 4> elsewhere;  // computed in the body, too; operands first
  llvm::SmallPtrSet<const BasicBlock*, 16> blocks{};
  llvm::SmallSetVector<BasicBlock*, 4> pads{};  // outside, where exceptions of the body end up
};

/// Finds what a loop needs to come to its end.
class EndOfLoop {
 public:
  explicit EndOfLoop(const llvm::Loop& loop) : loop_(loop) {}

  std::optional<Repeat> find(abi::SiteId site) {
    latch_ = loop_.getLoopLatch();
    if (latch_ == nullptr || !loop_.isLoopExiting(latch_)) return std::nullopt;
    Repeat repeat{site, loop_.getHeader(), latch_->getTerminator(), {}, {}, {}};
    repeat.blocks.insert(loop_.block_begin(), loop_.block_end());
    if (!is_left_at_end_only(repeat)) return std::nullopt;
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(latch_->getTerminator());
    if (branch == nullptr || !branch->isConditional() || !need(branch->getCondition())) {
      return std::nullopt;
    }
    while (Instruction* before = repeat.end->getPrevNode()) {
      if (llvm::isa<PHINode>(before)) break;
      if (!needed_.contains(before) && !llvm::isa<llvm::DbgInfoIntrinsic>(before)) break;
      repeat.end = before;
    }
    for (Instruction* instruction : needed_) {
      if (auto* phi = llvm::dyn_cast<PHINode>(instruction)) {
        repeat.driven.push_back(phi);
      } else if (instruction->getParent() != latch_ || instruction->comesBefore(repeat.end)) {
        if (instruction->mayReadFromMemory()) return std::nullopt;  // it may have changed by then
        repeat.elsewhere.push_back(instruction);
      }
    }
    if (!does_something(repeat)) return std::nullopt;
    return repeat;
  }

 private:
  /// A failed assertion ends the program, not the loop, and an exception, which hardly any call in
  /// C++ promises not to throw, leaves it as if it were the program's end: neither counts as a
  /// break.
  bool is_left_at_end_only(Repeat& repeat) const {
    llvm::SmallVector<llvm::Loop::Edge, 4> edges;
    loop_.getExitEdges(edges);
    return llvm::all_of(edges, [&](const llvm::Loop::Edge& edge) {
      return edge.first == latch_ || never_comes_back(edge.second, repeat);
    });
  }

  /// Whether all that is done at `block` leads to a failure or an exception. What is reached from
  /// the loop alone then counts as one of its blocks.
  bool never_comes_back(BasicBlock* block, Repeat& repeat) const {
    if (block->isLandingPad()) {
      repeat.pads.insert(block);
      return true;
    }
    if (!repeat.blocks.insert(block).second) return true;
    if (repeat.blocks.size() > loop_.getNumBlocks() + kMostBeside) return false;
    const Instruction* const end = block->getTerminator();
    const bool goes_on = llvm::isa<llvm::BranchInst, llvm::InvokeInst, llvm::SwitchInst>(end);
    if (!goes_on && !llvm::isa<llvm::UnreachableInst>(end)) return false;
    return llvm::all_of(llvm::predecessors(block),
                        [&](const BasicBlock* from) { return repeat.blocks.contains(from); }) &&
           llvm::all_of(llvm::successors(block),
                        [&](BasicBlock* to) { return never_comes_back(to, repeat); });
  }

  /// False: it cannot be computed at the end alone.
  bool need(Value* value) {
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (instruction == nullptr || !loop_.contains(instruction)) return true;
    if (needed_.contains(instruction)) return true;
    if (auto* phi = llvm::dyn_cast<PHINode>(instruction)) {
      if (phi->getParent() != loop_.getHeader()) return false;
      needed_.insert(phi);
      return need(phi->getIncomingValueForBlock(latch_));
    }
    const bool simple_load = llvm::isa<llvm::LoadInst>(instruction) &&
                             !llvm::cast<llvm::LoadInst>(instruction)->isAtomic();
    if (!simple_load && !llvm::isSafeToSpeculativelyExecute(instruction)) return false;
    for (Value* operand : instruction->operands()) {
      if (!need(operand)) return false;
    }
    needed_.insert(instruction);
    return true;
  }

  /// Whether there is a body that others could notice.
  bool does_something(const Repeat& repeat) const {
    for (const BasicBlock* block : loop_.blocks()) {
      for (const Instruction& instruction : *block) {
        if (&instruction == repeat.end) break;
        if (!llvm::isa<llvm::DbgInfoIntrinsic>(instruction) &&
            (instruction.mayWriteToMemory() || instruction.mayHaveSideEffects())) {
          return true;
        }
      }
    }
    return false;
  }

  static constexpr unsigned kMostBeside = 64;  // blocks that lead to failures and exceptions

  const llvm::Loop& loop_;
  BasicBlock* latch_ = nullptr;
  llvm::SmallSetVector<Instruction*, 8> needed_;
};

/// Puts the way round the body into one loop.
class Detour {
 public:
  Detour(Repeat& repeat, Hooks& hooks) : repeat_(repeat), hooks_(hooks), header_(repeat.header) {}

  void insert() {
    split();
    end_where_caught();
    compute_at_end();
    for (PHINode& phi : llvm::make_early_inc_range(header_->phis())) {
      if (!llvm::is_contained(repeat_.driven, &phi)) keep_across(phi);
    }
    for (Instruction* instruction : used_behind()) carry_out(*instruction);
    if (const BasicBlock* const latch = ask_where_not_known()) tell_rounds(*latch);
  }

 private:
  void split() {
    Instruction* first = &*header_->getFirstInsertionPt();
    BasicBlock* const latch = repeat_.end->getParent();
    end_ = latch->splitBasicBlock(repeat_.end, "heddle.end");
    body_end_ = latch;
    body_ = header_->splitBasicBlock(first, "heddle.body");
    if (body_end_ == header_) body_end_ = body_;
    repeat_.blocks.insert(body_);
    llvm::IRBuilder<> builder(header_->getTerminator());
    locate(builder, *first);
    Value* site = builder.getInt32(repeat_.site);
    begin_ = hooks_.call(builder, HookId::__heddle_repeat_begin, {builder.getInt32(0), site});
    Value* goes_on = builder.CreateIsNotNull(begin_);
    builder.CreateCondBr(goes_on, body_, end_);
    header_->getTerminator()->eraseFromParent();
    builder.SetInsertPoint(body_end_->getTerminator());
    locate(builder, *body_end_->getTerminator());
    hooks_.call(builder, HookId::__heddle_repeat_end, {begin_, site});
  }

  /// An exception ends the iteration it is thrown in. What is reached from the body alone, by
  /// exceptions, sees the values of this iteration as the body does.
  void end_where_caught() {
    if (repeat_.pads.empty()) return;
    for (BasicBlock* pad : repeat_.pads) {
      llvm::IRBuilder<> builder(pad, pad->begin());
      PHINode* const iteration = builder.CreatePHI(begin_->getType(), 2, "heddle.thrown");
      for (BasicBlock* from : llvm::predecessors(pad)) {
        Value* const none = llvm::Constant::getNullValue(begin_->getType());
        iteration->addIncoming(repeat_.blocks.contains(from) ? begin_ : none, from);
      }
      builder.SetInsertPoint(pad, pad->getFirstInsertionPt());
      locate(builder, *pad->getFirstNonPHI());
      hooks_.call(builder, HookId::__heddle_repeat_end,
                  {iteration, builder.getInt32(repeat_.site)});
    }
    llvm::SmallVector<BasicBlock*, 16> reached;
    llvm::DominatorTree(*header_->getParent()).getDescendants(body_, reached);
    repeat_.blocks.insert(reached.begin(), reached.end());
  }

  /// An iteration before which it need not be asked is told from one with which the loop is
  /// entered.
  void tell_rounds(const BasicBlock& latch) {
    llvm::Type* const type = begin_->getArgOperand(0)->getType();
    PHINode* const again = PHINode::Create(type, 2, "heddle.again", header_->begin());
    for (BasicBlock* from : llvm::predecessors(header_)) {
      again->addIncoming(llvm::ConstantInt::get(type, from == &latch ? 1 : 0), from);
    }
    begin_->setArgOperand(0, again);
  }

  /// What the end computes only to know whether the loop goes on, in order.
  std::vector<Instruction*> asking() const {
    std::vector<Instruction*> result;
    llvm::SmallPtrSet<const llvm::User*, 8> users = {end_->getTerminator()};
    for (Instruction& instruction : llvm::reverse(*end_)) {
      if (instruction.isTerminator() || instruction.use_empty() ||
          llvm::isa<PHINode>(instruction)) {
        continue;
      }
      if (llvm::all_of(instruction.users(),
                       [&](const llvm::User* user) { return users.contains(user); })) {
        users.insert(&instruction);
        result.push_back(&instruction);
      }
    }
    std::reverse(result.begin(), result.end());
    return result;
  }

  /// Whether what drives the loop is used behind it, so that it has to come to its end.
  bool is_used_behind(const Instruction& instruction) const {
    return llvm::any_of(instruction.users(), [&](const llvm::User* user) {
      const BasicBlock* const at = llvm::cast<Instruction>(user)->getParent();
      return at != end_ && !repeat_.blocks.contains(at);
    });
  }

  /// Between iterations that are left out together the limit is not read. Only where overshooting
  /// it would end the loop, too: in other schedules the loop may be shorter than the plan thinks.
  /// The latch; nullptr: it is always asked.
  BasicBlock* ask_where_not_known() {
    auto* const branch = llvm::cast<llvm::BranchInst>(end_->getTerminator());
    const auto* const compares = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
    if (compares == nullptr || !compares->isRelational()) return nullptr;
    const std::vector<Instruction*> asked = asking();
    if (!llvm::is_contained(asked, compares) ||
        llvm::none_of(asked, [](const Instruction* one) { return one->mayReadFromMemory(); })) {
      return nullptr;
    }
    bool may_leave =
        llvm::none_of(repeat_.driven, [&](const PHINode* phi) { return is_used_behind(*phi); });
    for (const Instruction& instruction : *end_) may_leave &= !is_used_behind(instruction);

    BasicBlock* const known = end_->splitBasicBlock(branch, "heddle.known");
    BasicBlock* const ask =
        BasicBlock::Create(end_->getContext(), "heddle.ask", end_->getParent(), known);
    llvm::IRBuilder<> builder(end_->getTerminator());
    locate(builder, *branch);
    Value* const answer =
        hooks_.call(builder, HookId::__heddle_repeat_goes_on,
                    {builder.getInt32(may_leave ? 1 : 0), builder.getInt32(repeat_.site)});
    Value* const goes_on =
        builder.CreateICmpEQ(answer, builder.getInt32(static_cast<unsigned>(abi::GoesOn::Yes)));
    const bool back_if_true = branch->getSuccessor(0) == header_;
    Value* const goes_back = back_if_true ? goes_on : builder.CreateNot(goes_on);
    builder.CreateCondBr(builder.CreateIsNull(answer), ask, known);
    end_->getTerminator()->eraseFromParent();
    builder.SetInsertPoint(ask);
    Instruction* const last = builder.CreateBr(known);
    for (Instruction* instruction : asked) instruction->moveBefore(last);
    PHINode* const goes = PHINode::Create(goes_back->getType(), 2, "heddle.goes", known->begin());
    goes->addIncoming(goes_back, end_);
    goes->addIncoming(branch->getCondition(), ask);
    branch->setCondition(goes);
    return known;
  }

  static void locate(llvm::IRBuilder<>& builder, const Instruction& near) {
    llvm::DISubprogram* subprogram = near.getFunction()->getSubprogram();
    if (near.getDebugLoc()) {
      builder.SetCurrentDebugLocation(near.getDebugLoc());
    } else if (subprogram != nullptr) {
      builder.SetCurrentDebugLocation(llvm::DILocation::get(near.getContext(), 0, 0, subprogram));
    }
  }

  bool is_at_end(const llvm::Use& use) const {
    const auto* user = llvm::cast<Instruction>(use.getUser());
    const auto* phi = llvm::dyn_cast<PHINode>(user);
    return (phi != nullptr ? phi->getIncomingBlock(use) : user->getParent()) == end_;
  }

  /// What drives the loop is computed where it always comes by.
  void compute_at_end() {
    llvm::DenseMap<Value*, Value*> copies;
    for (Instruction* instruction : repeat_.elsewhere) {
      Instruction* copy = instruction->clone();
      for (llvm::Use& operand : copy->operands()) {
        if (Value* known = copies.lookup(operand.get())) operand.set(known);
      }
      copies[instruction] = copy;
      copy->insertBefore(repeat_.end);
      instruction->replaceUsesWithIf(copy, [&](const llvm::Use& use) { return is_at_end(use); });
    }
  }

  PHINode* at_end(Value* done, Value* left_out) {
    PHINode* phi = PHINode::Create(done->getType(), 2, "heddle.kept", end_->begin());
    phi->addIncoming(done, body_end_);
    phi->addIncoming(left_out, header_);
    return phi;
  }

  /// What the body makes of a variable, or the variable as it was.
  void keep_across(PHINode& phi) {
    Value* const next = phi.getIncomingValueForBlock(end_);
    auto* instruction = llvm::dyn_cast<Instruction>(next);
    if (next == &phi || (instruction != nullptr && instruction->getParent() == end_)) return;
    PHINode* const kept = at_end(next, &phi);
    phi.setIncomingValueForBlock(end_, kept);
    if (instruction == nullptr || !is_in_body(*instruction)) return;
    instruction->replaceUsesWithIf(
        kept, [&](const llvm::Use& use) { return use.getUser() != kept && is_behind(use); });
  }

  bool is_in_body(const Instruction& instruction) const {
    const BasicBlock* block = instruction.getParent();
    return repeat_.blocks.contains(block) && block != header_ && block != end_;
  }

  bool is_behind(const llvm::Use& use) const {
    const auto* user = llvm::cast<Instruction>(use.getUser());
    const auto* phi = llvm::dyn_cast<PHINode>(user);
    const BasicBlock* at = phi != nullptr ? phi->getIncomingBlock(use) : user->getParent();
    return at == end_ || !repeat_.blocks.contains(at);
  }

  std::vector<Instruction*> used_behind() const {
    std::vector<Instruction*> result;
    for (const BasicBlock* block : repeat_.blocks) {
      if (block == header_) continue;
      for (const Instruction& instruction : *block) {
        const bool used = llvm::any_of(instruction.uses(), [&](const llvm::Use& use) {
          const auto* user = llvm::cast<Instruction>(use.getUser());
          const bool is_kept = user->getParent() == end_ && llvm::isa<PHINode>(user);
          return !is_kept && is_behind(use);
        });
        if (used) result.push_back(const_cast<Instruction*>(&instruction));
      }
    }
    return result;
  }

  /// A value of the last body that was executed; zero if there was none.
  void carry_out(Instruction& instruction) {
    PHINode* const before =
        PHINode::Create(instruction.getType(), 2, "heddle.before", header_->begin());
    PHINode* const kept = at_end(&instruction, before);
    for (BasicBlock* from : llvm::predecessors(header_)) {
      before->addIncoming(from == end_ ? static_cast<Value*>(kept)
                                       : llvm::Constant::getNullValue(before->getType()),
                          from);
    }
    instruction.replaceUsesWithIf(
        kept, [&](const llvm::Use& use) { return use.getUser() != kept && is_behind(use); });
  }

  Repeat& repeat_;
  Hooks& hooks_;
  BasicBlock* const header_;
  llvm::CallInst* begin_ = nullptr;
  BasicBlock* body_ = nullptr;      // what is behind the header
  BasicBlock* body_end_ = nullptr;  // from which the end is reached
  BasicBlock* end_ = nullptr;
};

}  // namespace

void insert_repeats(llvm::Module& module, const Structure& structure, Hooks& hooks) {
  const auto resolvers = ifunc_resolvers(module);
  for (llvm::Function& function : module) {
    if (!structure.functions.contains(&function) || resolvers.contains(&function)) continue;
    llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);
    std::vector<Repeat> repeats;
    for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
      const auto site = structure.loops.find(loop->getHeader());
      if (site == structure.loops.end()) continue;
      if (std::optional<Repeat> repeat = EndOfLoop(*loop).find(site->second)) {
        repeats.push_back(std::move(*repeat));
      }
    }
    // Inner loops last: what is split in an outer one stays what they know.
    for (Repeat& repeat : repeats) Detour(repeat, hooks).insert();
  }
}

}  // namespace heddle::pass
