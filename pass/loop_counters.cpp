// SPDX-License-Identifier: Apache-2.0
#include "pass/loop_counters.h"

#include <optional>
#include <vector>

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "pass/needed_value.h"
#include "pass/rounds_together.h"

namespace heddle::pass {
namespace {

bool is_described(llvm::Value& value) {
  llvm::SmallVector<llvm::DbgVariableIntrinsic*, 2> intrinsics;
  llvm::SmallVector<llvm::DbgVariableRecord*, 2> records;
  llvm::findDbgUsers(intrinsics, &value, &records);
  return !intrinsics.empty() || !records.empty();
}

/// A value that moves by the same amount in every round, whichever way the loop is gone round.
struct Induction {
  llvm::PHINode* value;
  llvm::SmallVector<llvm::Instruction*, 2> next;  // what it is going to be in the next round
  llvm::APInt step;
};

/// One that a variable of the program has, or a constant.
bool is_known(const llvm::SCEV& step, llvm::ScalarEvolution& evolution) {
  if (llvm::isa<llvm::SCEVConstant>(step)) return true;
  if (const auto* cast = llvm::dyn_cast<llvm::SCEVCastExpr>(&step)) {
    return is_known(*cast->getOperand(), evolution);
  }
  if (const auto* product = llvm::dyn_cast<llvm::SCEVMulExpr>(&step)) {  // -1 times it: downwards
    return llvm::all_of(product->operands(),
                        [&](const llvm::SCEV* factor) { return is_known(*factor, evolution); });
  }
  if (const auto* outer = llvm::dyn_cast<llvm::SCEVAddRecExpr>(&step)) {
    // The variable of a loop around it; downwards that is moved the other way, too.
    const llvm::SCEV* negative = evolution.getNegativeSCEV(&step);
    return llvm::any_of(outer->getLoop()->getHeader()->phis(), [&](llvm::PHINode& phi) {
      if (!evolution.isSCEVable(phi.getType()) || !is_described(phi)) return false;
      const llvm::SCEV* values = evolution.getSCEV(&phi);
      return values == &step || values == negative;
    });
  }
  const auto* value = llvm::dyn_cast<llvm::SCEVUnknown>(&step);
  return value != nullptr && is_described(*value->getValue());
}

/// Such a value tells the rounds apart until it is the same again: a bit that is turned round each
/// time does not.
bool repeats_early(const llvm::SCEV& values, const llvm::SCEV& step) {
  constexpr unsigned kBits = 30;  // of the number of rounds until then
  const auto* recurrence = llvm::dyn_cast<llvm::SCEVAddRecExpr>(&values);
  if (recurrence != nullptr && recurrence->hasNoSelfWrap()) return false;
  const auto* constant = llvm::dyn_cast<llvm::SCEVConstant>(&step);
  const unsigned twos = constant == nullptr ? 0 : constant->getAPInt().countr_zero();
  const llvm::Type* type = step.getType();
  return type->isIntegerTy() && type->getIntegerBitWidth() - twos < kBits;
}

llvm::SmallVector<llvm::BasicBlock*, 4> exits_of(const llvm::Loop& loop) {
  llvm::SmallVector<llvm::BasicBlock*, 4> exits;
  loop.getUniqueExitBlocks(exits);
  return exits;
}

/// True for code that ends the program (a failed assertion): nothing is alive there any more.
bool ends_program(const llvm::BasicBlock& block, int depth = 4) {
  if (llvm::isa<llvm::UnreachableInst>(block.getTerminator())) return true;
  return depth > 0 && !llvm::succ_empty(&block) &&
         llvm::all_of(llvm::successors(&block),
                      [&](const llvm::BasicBlock* next) { return ends_program(*next, depth - 1); });
}

bool may_end_program(const llvm::Loop& loop) {
  return llvm::any_of(exits_of(loop), [](llvm::BasicBlock* exit) { return ends_program(*exit); });
}

/// The value that a variable of the program has tells the rounds apart, in all runs alike. That of
/// a pointer does not, unless it points into static variables: counted from where the program is
/// loaded. It is not to be had where the program is ended.
bool tells_rounds(llvm::PHINode& value, const llvm::Loop& loop, SharingAnalysis& memory) {
  return is_described(value) &&
         (value.getType()->isIntegerTy() || (memory.is_static(&value) && !may_end_program(loop)));
}

bool begins_with_constant(const llvm::PHINode& value, const llvm::BasicBlock& before) {
  return llvm::isa<llvm::ConstantInt>(value.getIncomingValueForBlock(&before));
}

/// How the rounds of one loop can be known.
class Plan {
 public:
  Plan(llvm::Loop& loop, llvm::ScalarEvolution& evolution, SharingAnalysis& memory) : loop_(&loop) {
    for (llvm::PHINode& phi : loop.getHeader()->phis()) consider(phi, evolution, memory);
    is_counted_out_ = evolution.hasLoopInvariantBackedgeTakenCount(&loop);
  }

  llvm::Loop& loop() const { return *loop_; }
  bool needs_nothing() const { return needs_nothing_; }
  const std::optional<Induction>& induction() const { return induction_; }
  /// How often it goes round is known when it begins: what it leaves behind is computed without it.
  bool is_counted_out() const { return is_counted_out_; }

 private:
  void consider(llvm::PHINode& phi, llvm::ScalarEvolution& evolution, SharingAnalysis& memory) {
    if (!evolution.isSCEVable(phi.getType())) return;
    const llvm::SCEV* step = step_of(phi, evolution);
    if (step == nullptr || step->isZero() || repeats_early(*evolution.getSCEV(&phi), *step)) return;
    if (tells_rounds(phi, *loop_, memory) && is_known(*step, evolution)) needs_nothing_ = true;
    // Steps that are no constants would have to be kept as well.
    const auto* constant = llvm::dyn_cast<llvm::SCEVConstant>(step);
    constexpr unsigned kMost = 64;
    if (constant == nullptr || constant->getAPInt().getBitWidth() > kMost) return;
    // One that begins with a constant is better still.
    llvm::BasicBlock* before = loop_->getLoopPredecessor();
    if (before == nullptr || (induction_ && !begins_with_constant(phi, *before))) return;
    if (induction_ && begins_with_constant(*induction_->value, *before)) return;
    induction_ = Induction{&phi, {}, constant->getAPInt()};
    for (llvm::BasicBlock* from : phi.blocks()) {
      auto* next = llvm::dyn_cast<llvm::Instruction>(phi.getIncomingValueForBlock(from));
      if (next != nullptr && loop_->contains(from) && !next->isTerminator() &&
          !llvm::is_contained(induction_->next, next)) {
        induction_->next.push_back(next);
      }
    }
  }

  /// By which the value moves, the same on each way round; null if there is no such thing.
  const llvm::SCEV* step_of(llvm::PHINode& phi, llvm::ScalarEvolution& evolution) const {
    const llvm::SCEV* step = nullptr;
    for (llvm::BasicBlock* from : phi.blocks()) {
      if (!loop_->contains(from)) continue;
      const llvm::SCEV* moved = evolution.getMinusSCEV(
          evolution.getSCEV(phi.getIncomingValueForBlock(from)), evolution.getSCEV(&phi));
      if (llvm::isa<llvm::SCEVCouldNotCompute>(moved) || !evolution.isLoopInvariant(moved, loop_) ||
          (step != nullptr && moved != step)) {
        return nullptr;
      }
      step = moved;
    }
    return step;
  }

  llvm::Loop* loop_;
  std::optional<Induction> induction_;
  bool needs_nothing_ = false;
  bool is_counted_out_ = false;
};

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

/// Where a loop is about to begin, and nothing else. The block that leads there may be the end of
/// another loop, which goes round more often than this one begins, or lead past this one as well.
llvm::BasicBlock* entrance(const llvm::Loop& loop, llvm::DominatorTree& dominators,
                           llvm::LoopInfo& loops) {
  llvm::BasicBlock* before = loop.getLoopPredecessor();
  if (before->getSingleSuccessor() != nullptr ||
      !llvm::isa<llvm::BranchInst, llvm::SwitchInst>(before->getTerminator())) {
    return before;
  }
  return llvm::SplitEdge(before, loop.getHeader(), &dominators, &loops);
}

llvm::Value* bits_of(llvm::Value* value, llvm::IRBuilder<>& builder) {
  return value->getType()->isPointerTy() ? builder.CreatePtrToInt(value, builder.getInt64Ty())
                                         : builder.CreateZExt(value, builder.getInt64Ty());
}

/// `value` as it leaves the loop for `exit`; `elsewhere` if that is reached from outside of it.
llvm::Value* on_the_way_to(llvm::BasicBlock& exit, const llvm::Loop& loop, llvm::Value* value,
                           llvm::Value* elsewhere) {
  auto* merged = llvm::PHINode::Create(value->getType(), llvm::pred_size(&exit), "heddle.at_exit",
                                       exit.begin());
  for (llvm::BasicBlock* from : llvm::predecessors(&exit)) {
    merged->addIncoming(loop.contains(from) ? value : elsewhere, from);
  }
  return merged;
}

/// Describes how the number of the round follows from a value of the loop.
class Description {
 public:
  /// `start`: of the values whose distance counts; `step`: from round to round.
  Description(const llvm::Loop& loop, llvm::Value& start, const llvm::APInt& step,
              llvm::DILocalVariable& variable)
      : loop_(loop), start_(start), step_(step), variable_(variable) {}

  /// Only the value is sure to survive; where it began is stored once a loop, not once a round.
  void keep_start(llvm::BasicBlock& before) {
    if (llvm::isa<llvm::ConstantInt>(start_)) return;
    llvm::Function& function = *before.getParent();
    slot_ = make_slot(function);
    llvm::IRBuilder<> builder(before.getTerminator());
    builder.SetCurrentDebugLocation(generated_place(function, 0));
    builder.CreateStore(bits_of(&start_, builder), slot_, /*isVolatile=*/true);
  }

  /// From where `value` is computed on. It is that of `ahead` rounds later.
  void describe(llvm::Instruction& value, std::uint64_t ahead) {
    using namespace llvm::dwarf;
    llvm::BasicBlock& block = *value.getParent();
    const auto where = llvm::isa<llvm::PHINode>(value) ? block.getFirstInsertionPt()
                                                       : std::next(value.getIterator());
    if (where == block.end()) return;
    llvm::Metadata* operands = llvm::ValueAsMetadata::get(&value);
    llvm::SmallVector<std::uint64_t, 24> distance;
    if (slot_ != nullptr) {
      operands = llvm::DIArgList::get(block.getContext(), {llvm::ValueAsMetadata::get(&value),
                                                           llvm::ValueAsMetadata::get(slot_)});
      distance.append({DW_OP_LLVM_arg, 0, DW_OP_LLVM_arg, 1, DW_OP_deref});
    } else {
      distance.append({DW_OP_constu, llvm::cast<llvm::ConstantInt>(start_).getZExtValue()});
    }
    if (is_downwards()) distance.push_back(DW_OP_swap);
    distance.push_back(DW_OP_minus);
    insert(block, where, operands, distance, ahead);
  }

  /// Where the loop is left to end the program: nothing is kept through a call that never returns.
  /// Elsewhere than from the loop (its first round may have been taken out of it) it is round 0.
  void write_down(llvm::Instruction& value, std::uint64_t ahead, llvm::BasicBlock& exit) {
    llvm::IRBuilder<> builder(&exit, exit.getFirstInsertionPt());
    if (builder.GetInsertPoint() == exit.end()) return;
    llvm::Function& function = *exit.getParent();
    builder.SetCurrentDebugLocation(generated_place(function, 0));
    llvm::Type* type = value.getType();
    llvm::Constant* none = llvm::Constant::getNullValue(type);
    llvm::Constant* first = ahead == 0 ? none : llvm::ConstantInt::get(type, ahead);
    llvm::Value* at = bits_of(on_the_way_to(exit, loop_, &value, first), builder);
    llvm::Value* start = bits_of(on_the_way_to(exit, loop_, &start_, none), builder);
    llvm::AllocaInst* written = make_slot(function);
    builder.CreateStore(
        is_downwards() ? builder.CreateSub(start, at) : builder.CreateSub(at, start), written,
        /*isVolatile=*/true);
    llvm::SmallVector<std::uint64_t, 24> distance = {llvm::dwarf::DW_OP_deref};
    insert(exit, builder.GetInsertPoint(), llvm::ValueAsMetadata::get(written), distance, ahead);
  }

 private:
  bool is_downwards() const { return step_.isNegative(); }

  /// The round, given the distance. It is a multiple of the step, modulo what the value's bits
  /// hold; a division would be wrong once they have overflowed, multiplying by the inverse of the
  /// step's odd part is not.
  void insert(llvm::BasicBlock& block, llvm::BasicBlock::iterator where, llvm::Metadata* value,
              llvm::SmallVectorImpl<std::uint64_t>& expression, std::uint64_t ahead) {
    using namespace llvm::dwarf;
    const llvm::APInt size = step_.abs();
    const unsigned twos = size.countr_zero();
    const llvm::APInt odd = size.lshr(twos);
    const auto keep_bits = [&](unsigned bits) {
      constexpr unsigned kAll = 64;
      if (bits < kAll) expression.append({DW_OP_constu, (std::uint64_t{1} << bits) - 1, DW_OP_and});
    };
    keep_bits(step_.getBitWidth());
    if (twos > 0) expression.append({DW_OP_constu, twos, DW_OP_shr});
    if (!odd.isOne()) {
      expression.append({DW_OP_constu, odd.multiplicativeInverse().getZExtValue(), DW_OP_mul});
      keep_bits(step_.getBitWidth() - twos);
    }
    expression.append({DW_OP_constu, ahead, DW_OP_minus, DW_OP_stack_value});
    auto* record = new llvm::DbgVariableRecord(
        value, &variable_, llvm::DIExpression::get(block.getContext(), expression),
        generated_place(*block.getParent(), 0));
    block.insertDbgRecordBefore(record, where);
  }

  const llvm::Loop& loop_;
  llvm::Value& start_;
  llvm::APInt step_;
  llvm::DILocalVariable& variable_;
  llvm::AllocaInst* slot_ = nullptr;  // holds start_, unless that is a constant
};

/// A loop that computes such a value anyway.
void describe_loop(const llvm::Loop& loop, const Induction& induction, llvm::BasicBlock& before,
                   llvm::DILocalVariable& variable) {
  llvm::Value& start = *induction.value->getIncomingValueForBlock(&before);
  Description description(loop, start, induction.step, variable);
  description.keep_start(before);
  for (llvm::BasicBlock* exit : exits_of(loop)) {
    if (ends_program(*exit)) description.write_down(*induction.value, 0, *exit);
  }
  // Of these one is always alive: the value until the next one is computed, then that.
  description.describe(*induction.value, 0);
  for (llvm::Instruction* next : induction.next) description.describe(*next, 1);
}

/// Where rounds are long, an addition in memory costs nothing but itself, and a register could be
/// one of those that the loop, or one inside it, needs. Short rounds would wait for the memory.
/// Without optimisation there is no register to be had.
bool belongs_in_memory(const llvm::Loop& loop) {
  if (loop.getLoopPredecessor() == nullptr) return false;
  constexpr std::size_t kShort = 24;  // instructions
  std::size_t instructions = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) {
    instructions += block->sizeWithoutDebug();
  }
  return !loop.isInnermost() || instructions > kShort ||
         loop.getHeader()->getParent()->hasOptNone();
}

/// Counts a loop that has nothing to count it by.
void count_in_memory(const llvm::Loop& loop, llvm::BasicBlock& before,
                     llvm::DILocalVariable& variable, llvm::DIBuilder& debug) {
  llvm::BasicBlock& header = *loop.getHeader();
  llvm::Function& function = *header.getParent();
  llvm::AllocaInst* slot = make_slot(function);
  debug.insertDeclare(slot, &variable, debug.createExpression(),
                      generated_place(function, function.getSubprogram()->getLine()),
                      slot->getNextNode());
  llvm::IRBuilder<> builder(before.getTerminator());
  const llvm::DebugLoc place = generated_place(function, 0);
  builder.SetCurrentDebugLocation(place);
  builder.CreateStore(builder.getInt64(-1), slot, /*isVolatile=*/true);
  builder.SetInsertPoint(&header, header.getFirstInsertionPt());
  builder.SetCurrentDebugLocation(place);
  llvm::Value* round = builder.CreateAdd(
      builder.CreateLoad(builder.getInt64Ty(), slot, /*isVolatile=*/true), builder.getInt64(1));
  builder.CreateStore(round, slot, /*isVolatile=*/true);
}

/// The same, of any other loop. The count is needed behind the loop, and
/// so it is alive all the time in the loop, in a register or wherever the compiler finds room for
/// it.
void count_in_register(llvm::Loop& loop, bool is_counted_out, llvm::DILocalVariable& variable) {
  llvm::BasicBlock& header = *loop.getHeader();
  llvm::IRBuilder<> builder(&header, header.getFirstInsertionPt());
  const llvm::DebugLoc place = generated_place(*header.getParent(), 0);
  builder.SetCurrentDebugLocation(place);
  auto* round = llvm::PHINode::Create(builder.getInt64Ty(), llvm::pred_size(&header),
                                      "heddle.round", header.begin());
  // At once, and used in place of the round: there is never more than one of them to be kept.
  auto* begun = llvm::cast<llvm::Instruction>(builder.CreateAdd(round, builder.getInt64(1)));
  llvm::Value* zero = builder.getInt64(0);
  for (llvm::BasicBlock* from : llvm::predecessors(&header)) {
    round->addIncoming(loop.contains(from) ? begun : zero, from);
  }
  constexpr unsigned kBits = 64;
  Description description(loop, *zero, llvm::APInt(kBits, 1), variable);
  bool is_needed = false;
  for (llvm::BasicBlock* exit : exits_of(loop)) {
    if (ends_program(*exit)) {
      description.write_down(*begun, 1, *exit);
    } else if (exit->getFirstInsertionPt() != exit->end()) {
      llvm::IRBuilder<> behind(exit, exit->getFirstInsertionPt());
      behind.SetCurrentDebugLocation(place);
      llvm::Value* nothing = llvm::PoisonValue::get(begun->getType());
      need(on_the_way_to(*exit, loop, begun, nothing), behind);
      is_needed = true;
    }
  }
  if (!is_needed || is_counted_out) {
    need(begun, builder);
  } else {
    count_rounds_together(loop);
  }
  description.describe(*round, 0);
  description.describe(*begun, 1);
}

void know_rounds(const Plan& plan, abi::SiteId site, llvm::DominatorTree& dominators,
                 llvm::LoopInfo& loops, llvm::DIBuilder& debug) {
  llvm::Loop& loop = plan.loop();
  llvm::DILocalVariable& variable = *make_description(*loop.getHeader()->getParent(), site, debug);
  if (plan.induction()) {
    describe_loop(loop, *plan.induction(), *entrance(loop, dominators, loops), variable);
  } else if (belongs_in_memory(loop)) {
    count_in_memory(loop, *entrance(loop, dominators, loops), variable, debug);
  } else {
    count_in_register(loop, plan.is_counted_out(), variable);
  }
}

void know_rounds(llvm::Function& function, const Structure& structure, SharingAnalysis& memory,
                 llvm::TargetLibraryInfo& library, llvm::DIBuilder& debug) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  std::vector<Plan> plans;  // all of them before anything is changed
  {
    llvm::AssumptionCache assumptions(function);
    llvm::ScalarEvolution evolution(function, library, assumptions, dominators, loops);
    for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
      if (!loop->getHeader()->isEHPad()) plans.emplace_back(*loop, evolution, memory);
    }
  }
  for (const Plan& plan : plans) {
    if (plan.needs_nothing()) continue;
    const abi::SiteId site = structure.loops.lookup(plan.loop().getHeader());
    know_rounds(plan, site, dominators, loops, debug);
  }
}

}  // namespace

void insert_loop_counters(llvm::Module& module, const Structure& structure,
                          SharingAnalysis& memory) {
  const llvm::ScopedDbgInfoFormatSetter records(module, /*NewState=*/true);
  llvm::DIBuilder debug(module, /*AllowUnresolved=*/false);
  llvm::TargetLibraryInfoImpl known(llvm::Triple(module.getTargetTriple()));
  llvm::TargetLibraryInfo library(known);
  for (llvm::Function& function : module) {
    // Without debug information nobody could find the counters.
    if (!structure.functions.contains(&function) || function.getSubprogram() == nullptr) continue;
    know_rounds(function, structure, memory, library, debug);
  }
  debug.finalize();
}

}  // namespace heddle::pass
