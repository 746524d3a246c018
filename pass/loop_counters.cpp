// SPDX-License-Identifier: Apache-2.0
#include "pass/loop_counters.h"

#include <optional>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace heddle::pass {
namespace {

bool is_described(llvm::Value& value) {
  llvm::SmallVector<llvm::DbgVariableIntrinsic*, 2> intrinsics;
  llvm::SmallVector<llvm::DbgVariableRecord*, 2> records;
  llvm::findDbgUsers(intrinsics, &value, &records);
  return !intrinsics.empty() || !records.empty();
}

/// A value that moves by the same amount in every round.
struct Induction {
  llvm::PHINode* value;
  llvm::Instruction* next;
  llvm::Value* step;
  std::int64_t bytes;  // 1, or what a pointer moves by for a step of one
};

// What is added to `phi` in `next`, whichever way it is written down.
llvm::Value* added_in(const llvm::Instruction& next, const llvm::PHINode& phi,
                      const llvm::DataLayout& layout, std::int64_t& bytes) {
  bytes = 1;
  if (next.getOpcode() == llvm::Instruction::Add && next.getType()->isIntegerTy()) {
    return next.getOperand(0) == &phi ? next.getOperand(1) : nullptr;
  }
  const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&next);
  if (address == nullptr || address->getNumIndices() != 1 || address->getPointerOperand() != &phi ||
      address->getType()->isVectorTy()) {
    return nullptr;
  }
  const llvm::TypeSize size = layout.getTypeAllocSize(address->getSourceElementType());
  if (size.isScalable()) return nullptr;
  bytes = static_cast<std::int64_t>(size.getFixedValue());
  return address->getOperand(1);
}

std::optional<Induction> induction_of(llvm::PHINode& phi, const llvm::Loop& loop) {
  llvm::BasicBlock* latch = loop.getLoopLatch();
  if (latch == nullptr) return std::nullopt;
  auto* next = llvm::dyn_cast<llvm::Instruction>(phi.getIncomingValueForBlock(latch));
  if (next == nullptr || !loop.contains(next)) return std::nullopt;
  std::int64_t bytes = 0;
  llvm::Value* step = added_in(*next, phi, loop.getHeader()->getModule()->getDataLayout(), bytes);
  if (step == nullptr || bytes == 0 || !loop.isLoopInvariant(step)) return std::nullopt;
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(step);
  if (constant != nullptr && (constant->isZero() || constant->getBitWidth() > 64)) {
    return std::nullopt;
  }
  return Induction{&phi, next, step, bytes};
}

/// The value that a variable of the program has tells the rounds apart. Not that of a pointer: it
/// is another one in another run.
bool tells_rounds(const Induction& induction) {
  return induction.value->getType()->isIntegerTy() && is_described(*induction.value) &&
         (llvm::isa<llvm::ConstantInt>(induction.step) || is_described(*induction.step));
}

llvm::DILocalVariable* make_description(llvm::Function& function, abi::SiteId site,
                                        llvm::DIBuilder& debug) {
  llvm::DISubprogram* scope = function.getSubprogram();
  llvm::DIType* type = debug.createBasicType("unsigned long", 64, llvm::dwarf::DW_ATE_unsigned);
  return debug.createAutoVariable(scope, "__heddle_loop_" + std::to_string(site), scope->getFile(),
                                  scope->getLine(), type, /*AlwaysPreserve=*/true,
                                  llvm::DINode::FlagArtificial);
}

llvm::DILocation* generated_place(const llvm::Function& function, unsigned line) {
  return llvm::DILocation::get(function.getContext(), line, 0, function.getSubprogram());
}

llvm::AllocaInst* make_slot(llvm::Function& function) {
  llvm::BasicBlock& entry = function.getEntryBlock();
  llvm::IRBuilder<> builder(&entry, entry.getFirstInsertionPt());
  return builder.CreateAlloca(builder.getInt64Ty(), nullptr, "heddle.loop_count");
}

/// Where a loop is about to begin. The block that leads there may be the end of another loop, which
/// goes round more often than this one begins: then there is a block between the two.
llvm::BasicBlock* entrance(const llvm::Loop& loop, llvm::DominatorTree& dominators,
                           llvm::LoopInfo& loops) {
  llvm::BasicBlock* before = loop.getLoopPredecessor();
  if (loops.getLoopFor(before) == loop.getParentLoop() ||
      !llvm::isa<llvm::BranchInst, llvm::SwitchInst>(before->getTerminator())) {
    return before;
  }
  return llvm::SplitEdge(before, loop.getHeader(), &dominators, &loops);
}

/// Counts a loop that has nothing to count it by.
void count(const llvm::Loop& loop, abi::SiteId site, llvm::DIBuilder& debug) {
  llvm::BasicBlock& header = *loop.getHeader();
  llvm::Function& function = *header.getParent();
  llvm::AllocaInst* slot = make_slot(function);
  const unsigned line = function.getSubprogram()->getLine();
  debug.insertDeclare(slot, make_description(function, site, debug), debug.createExpression(),
                      generated_place(function, line), slot->getNextNode());
  llvm::IRBuilder<> builder(&header, header.getFirstInsertionPt());
  builder.SetCurrentDebugLocation(generated_place(function, 0));
  auto* iteration = llvm::PHINode::Create(builder.getInt64Ty(), llvm::pred_size(&header),
                                          "heddle.iteration", header.begin());
  builder.CreateStore(iteration, slot, /*isVolatile=*/true);
  llvm::Value* next = builder.CreateAdd(iteration, builder.getInt64(1));
  for (llvm::BasicBlock* from : llvm::predecessors(&header)) {
    iteration->addIncoming(loop.contains(from) ? next : builder.getInt64(0), from);
  }
}

/// True for code that ends the program (a failed assertion): nothing is alive there any more.
bool ends_program(const llvm::BasicBlock& block, int depth = 4) {
  if (llvm::isa<llvm::UnreachableInst>(block.getTerminator())) return true;
  return depth > 0 && !llvm::succ_empty(&block) &&
         llvm::all_of(llvm::successors(&block),
                      [&](const llvm::BasicBlock* next) { return ends_program(*next, depth - 1); });
}

/// Describes how the number of the round follows from a value that the loop computes anyway.
class Description {
 public:
  Description(const llvm::Loop& loop, const Induction& induction, llvm::DILocalVariable& variable)
      : loop_(loop), induction_(induction), variable_(variable) {}

  /// `before`: where the loop is about to begin.
  void insert(llvm::BasicBlock& before) {
    llvm::BasicBlock& header = *loop_.getHeader();
    keep_start(before);
    llvm::SmallVector<llvm::BasicBlock*, 4> exits;
    loop_.getUniqueExitBlocks(exits);
    for (llvm::BasicBlock* exit : exits) {
      if (ends_program(*exit)) write_down(*exit);
    }
    // Of the two one is always alive: the value until the next one is computed, then that.
    describe(*induction_.value, 0, *header.getFirstInsertionPt());
    describe(*induction_.next, 1, *induction_.next->getNextNode());
  }

 private:
  // Only the value is sure to survive; where it began is stored once a loop, not once a round.
  void keep_start(llvm::BasicBlock& before) {
    start_ = induction_.value->getIncomingValueForBlock(&before);
    if (llvm::isa<llvm::ConstantInt>(start_)) return;
    llvm::Function& function = *before.getParent();
    slot_ = make_slot(function);
    llvm::IRBuilder<> builder(before.getTerminator());
    builder.SetCurrentDebugLocation(generated_place(function, 0));
    builder.CreateStore(bits_of(start_, builder), slot_, /*isVolatile=*/true);
  }

  // The value is not kept through a call that never returns. Elsewhere than from the loop (its
  // first round may have been taken out of it) the distance is 0.
  void write_down(llvm::BasicBlock& exit) {
    llvm::Function& function = *exit.getParent();
    llvm::IRBuilder<> builder(&exit, exit.getFirstInsertionPt());
    if (builder.GetInsertPoint() == exit.end()) return;
    builder.SetCurrentDebugLocation(generated_place(function, 0));
    llvm::Value* value = bits_of(on_the_way_to(exit, induction_.value), builder);
    llvm::Value* start = bits_of(on_the_way_to(exit, start_), builder);
    llvm::Value* distance =
        step() < 0 ? builder.CreateSub(start, value) : builder.CreateSub(value, start);
    if (const std::uint64_t mask = value_mask()) distance = builder.CreateAnd(distance, mask);
    llvm::AllocaInst* count = make_slot(function);
    builder.CreateStore(builder.CreateUDiv(distance, builder.getInt64(step_size())), count,
                        /*isVolatile=*/true);
    auto* record = new llvm::DbgVariableRecord(
        llvm::ValueAsMetadata::get(count), &variable_,
        llvm::DIExpression::get(exit.getContext(), {llvm::dwarf::DW_OP_deref}),
        generated_place(function, 0));
    exit.insertDbgRecordBefore(record, builder.GetInsertPoint());
  }

  llvm::Value* on_the_way_to(llvm::BasicBlock& exit, llvm::Value* value) {
    auto* merged = llvm::PHINode::Create(value->getType(), llvm::pred_size(&exit), "heddle.at_exit",
                                         exit.begin());
    for (llvm::BasicBlock* from : llvm::predecessors(&exit)) {
      merged->addIncoming(
          loop_.contains(from) ? value : llvm::Constant::getNullValue(value->getType()), from);
    }
    return merged;
  }

  static llvm::Value* bits_of(llvm::Value* value, llvm::IRBuilder<>& builder) {
    return value->getType()->isPointerTy() ? builder.CreatePtrToInt(value, builder.getInt64Ty())
                                           : builder.CreateZExt(value, builder.getInt64Ty());
  }

  std::int64_t step() const {
    return llvm::cast<llvm::ConstantInt>(induction_.step)->getSExtValue() * induction_.bytes;
  }
  std::uint64_t step_size() const {
    const auto bits = static_cast<std::uint64_t>(step());
    return step() < 0 ? 0 - bits : bits;
  }
  /// Of numbers narrower than those of an expression; 0: there is no need for one.
  std::uint64_t value_mask() const {
    const llvm::Type* type = induction_.value->getType();
    const unsigned bits = type->isIntegerTy() ? type->getIntegerBitWidth() : 64;
    return bits < 64 ? (std::uint64_t{1} << bits) - 1 : 0;
  }

  /// (value - start) / step - `ahead`, in as many bits as the value has.
  void describe(llvm::Instruction& value, std::uint64_t ahead, llvm::Instruction& before) {
    using namespace llvm::dwarf;
    llvm::LLVMContext& context = value.getContext();
    llvm::SmallVector<llvm::ValueAsMetadata*, 2> operands = {llvm::ValueAsMetadata::get(&value)};
    llvm::SmallVector<std::uint64_t, 24> distance = {DW_OP_LLVM_arg, 0};
    if (slot_ != nullptr) {
      operands.push_back(llvm::ValueAsMetadata::get(slot_));
      distance.append({DW_OP_LLVM_arg, 1, DW_OP_deref});
    } else {
      distance.append({DW_OP_constu, llvm::cast<llvm::ConstantInt>(start_)->getZExtValue()});
    }
    if (step() < 0) distance.push_back(DW_OP_swap);
    distance.push_back(DW_OP_minus);
    if (const std::uint64_t mask = value_mask()) distance.append({DW_OP_constu, mask, DW_OP_and});
    distance.append({DW_OP_constu, step_size(), DW_OP_div, DW_OP_constu, ahead, DW_OP_minus,
                     DW_OP_stack_value});
    auto* record = new llvm::DbgVariableRecord(llvm::DIArgList::get(context, operands), &variable_,
                                               llvm::DIExpression::get(context, distance),
                                               generated_place(*value.getFunction(), 0));
    before.getParent()->insertDbgRecordBefore(record, before.getIterator());
  }

  const llvm::Loop& loop_;
  const Induction& induction_;
  llvm::DILocalVariable& variable_;
  llvm::AllocaInst* slot_ = nullptr;  // holds start_, unless that is a constant
  llvm::Value* start_ = nullptr;
};

// Steps that are no constants would have to be kept as well.
bool can_be_described(const Induction& induction, const llvm::Loop& loop) {
  const llvm::Type* type = induction.value->getType();
  return llvm::isa<llvm::ConstantInt>(induction.step) && loop.getLoopPredecessor() != nullptr &&
         (type->isPointerTy() || type->getIntegerBitWidth() <= 64) &&
         !induction.next->isTerminator() && loop.getHeader()->getParent()->IsNewDbgInfoFormat;
}

void count_loop(const llvm::Loop& loop, abi::SiteId site, llvm::DominatorTree& dominators,
                llvm::LoopInfo& loops, llvm::DIBuilder& debug) {
  llvm::BasicBlock& header = *loop.getHeader();
  std::optional<Induction> best;
  for (llvm::PHINode& phi : header.phis()) {
    const std::optional<Induction> found = induction_of(phi, loop);
    if (!found) continue;
    if (tells_rounds(*found)) return;
    if (!best && can_be_described(*found, loop)) best = found;
  }
  if (best) {
    llvm::DILocalVariable* variable = make_description(*header.getParent(), site, debug);
    Description(loop, *best, *variable).insert(*entrance(loop, dominators, loops));
  } else {
    count(loop, site, debug);
  }
}

void count_loops(llvm::Function& function, const Structure& structure, llvm::DIBuilder& debug) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (loop->getHeader()->isEHPad()) continue;
    count_loop(*loop, structure.loops.lookup(loop->getHeader()), dominators, loops, debug);
  }
}

}  // namespace

void insert_loop_counters(llvm::Module& module, const Structure& structure) {
  llvm::DIBuilder debug(module, /*AllowUnresolved=*/false);
  for (llvm::Function& function : module) {
    // Without debug information nobody could find the counters.
    if (!structure.functions.contains(&function) || function.getSubprogram() == nullptr) continue;
    count_loops(function, structure, debug);
  }
  debug.finalize();
}

}  // namespace heddle::pass
