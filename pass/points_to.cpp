// SPDX-License-Identifier: Apache-2.0
#include "pass/points_to.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "pass/selection.h"
#include "pass/value_flow.h"

namespace heddle::pass {
namespace {

using As = Flows::As;

/// Whether computing with it may be computing with addresses.
bool is_address_arithmetic(const llvm::Type* type) {
  return type->getScalarSizeInBits() >= 64;
}

/// The distance between two pointers is no pointer.
bool is_distance(const llvm::Instruction& difference) {
  return llvm::isa<llvm::PtrToIntOperator>(difference.getOperand(0)) &&
         llvm::isa<llvm::PtrToIntOperator>(difference.getOperand(1));
}

constexpr unsigned kGlobal = Regions::kShared | Regions::kStatic;

}  // namespace

PointsTo::PointsTo(llvm::Module& module)
    : layout_(module.getDataLayout()),
      library_data_(llvm::Triple(module.getTargetTriple())),
      library_(library_data_),
      flows_(regions_),
      outside_(regions_.new_region(Regions::kShared | Regions::kWritten)),
      outside_slot_(regions_.new_slot()) {
  regions_.blur(outside_);
  regions_.point(outside_slot_, {outside_, Regions::kAnywhere});
  flows_.store(outside_slot_, outside_slot_, As::Pointer, 0);
  llvm::SmallVector<llvm::GlobalValue*, 8> used;
  llvm::collectUsedGlobalVariables(module, used, /*CompilerUsed=*/false);
  llvm::collectUsedGlobalVariables(module, used, /*CompilerUsed=*/true);
  used_.insert(used.begin(), used.end());
  add_globals(module);
  const auto resolvers = ifunc_resolvers(module);
  for (llvm::Function& function : module) {
    if (function.isDeclarationForLinker()) continue;
    add_function(function);
    if (!function.hasLocalLinkage() || used_.contains(&function) || resolvers.contains(&function) ||
        !is_instrumented(function)) {
      open(function);
    }
  }
  solve();
}

unsigned PointsTo::flags_of(const llvm::Value* pointer) {
  const Slot slot = slot_of(pointer);
  const Region region = slot == Regions::kNone ? Regions::kNone : regions_.pointee(slot).region;
  return region == Regions::kNone ? 0 : regions_.flags(region);
}

bool PointsTo::may_be_outside(const llvm::Value* pointer) {
  const Slot slot = slot_of(pointer);
  return slot != Regions::kNone && regions_.pointee(slot).region == regions_.root_region(outside_);
}

void PointsTo::solve() {
  for (bool changed = true; changed;) {
    flows_.settle();
    changed = link_indirect_calls();
    changed |= open_functions_outside();
    changed |= settle_given_to_libraries();
    if (changed) continue;
    // Nothing more is to be learnt of who is called: pointers of unknown origin remain.
    const std::uint64_t before = regions_.changes();
    flows_.settle_unknown();
    changed = before != regions_.changes();
    for (IndirectCall& call : indirect_calls_) {
      if (call.leads_outside || call.is_linked) continue;
      call.leads_outside = changed = true;
      add_unknown_call(*call.call);
    }
  }
  for (const Slot slot : written_) {
    const Region region = regions_.pointee(slot).region;
    if (region != Regions::kNone) regions_.add_flags(region, Regions::kWritten);
  }
  regions_.spread_sharing();
}

bool PointsTo::link_indirect_calls() {
  bool changed = false;
  for (std::size_t i = 0; i < indirect_calls_.size(); ++i) {
    IndirectCall& call = indirect_calls_[i];
    const Region region = regions_.pointee(call.callee).region;
    if (region == Regions::kNone || call.leads_outside) continue;
    if (region == regions_.root_region(outside_)) {
      // Its functions are open: they are given what is outside, and leave their results there.
      call.leads_outside = changed = true;
      add_unknown_call(*call.call);
      continue;
    }
    for (const std::uint32_t number : regions_.functions(region)) {
      if (!linked_.insert({i, number}).second) continue;
      call.is_linked = changed = true;
      link(*call.call, *functions_[number]);
    }
  }
  return changed;
}

bool PointsTo::open_functions_outside() {
  bool changed = false;
  for (const std::uint32_t number : regions_.functions(outside_)) {
    llvm::Function& function = *functions_[number];
    if (function.isDeclarationForLinker() || open_.contains(&function)) continue;
    open(function);
    changed = true;
  }
  return changed;
}

bool PointsTo::settle_given_to_libraries() {
  bool changed = false;
  for (GivenToLibrary& given : given_to_libraries_) {
    const Region region = regions_.pointee(given.argument).region;
    if (given.settled || region == Regions::kNone || region == regions_.root_region(outside_) ||
        regions_.functions(region).empty()) {
      continue;
    }
    given.settled = changed = true;
    add_unknown_call(*given.call);
  }
  return changed;
}

void PointsTo::add_globals(const llvm::Module& module) {
  for (const llvm::GlobalVariable& variable : module.globals()) {
    if (variable.getName().starts_with("llvm.")) continue;  // lists for the code generator
    const Region region = region_of(variable);
    if (variable.hasInitializer()) add_initial_value(region, 0, variable.getInitializer());
  }
  for (const llvm::GlobalAlias& alias : module.aliases()) {
    if (!alias.hasLocalLinkage()) give_away(alias.getAliasee());
  }
}

void PointsTo::add_initial_value(Region region, std::int64_t offset,
                                 const llvm::Constant* constant) {
  if (llvm::isa<llvm::ConstantData>(constant)) return;
  if (!llvm::isa<llvm::ConstantAggregate>(constant)) {
    const Slot pointer = regions_.new_slot();
    regions_.point(pointer, {region, {offset}});
    const llvm::Type* type = constant->getType();
    flows_.store(slot_of(constant), pointer, flows_as(type), bytes_of(constant->getType()));
    return;
  }
  llvm::Type* const type = constant->getType();
  for (unsigned i = 0; i < constant->getNumOperands(); ++i) {
    const auto* element = llvm::cast<llvm::Constant>(constant->getOperand(i));
    std::uint64_t inside = 0;
    if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
      inside = layout_.getStructLayout(structure)->getElementOffset(i);
    } else {
      inside = i * layout_.getTypeAllocSize(element->getType());
    }
    add_initial_value(region, offset + static_cast<std::int64_t>(inside), element);
  }
}

PointsTo::Region PointsTo::region_of(const llvm::GlobalVariable& variable) {
  auto [known, is_new] = variables_.try_emplace(&variable, outside_);
  if (!is_new) return known->second;
  const bool is_visible =
      !variable.hasLocalLinkage() || used_.contains(const_cast<llvm::GlobalVariable*>(&variable));
  if (variable.isConstant() && !variable.isThreadLocal()) {
    const Region region = known->second = regions_.new_region(kGlobal);
    if (!is_visible) return region;
    const Slot pointer = regions_.new_slot();
    regions_.point(pointer, {region, {}});
    flows_.move(regions_.out_of(region), outside_slot_, As::Number);
    if (!variable.hasDefinitiveInitializer()) {
      flows_.store(outside_slot_, pointer, As::Pointer, 0);
    }
    return region;
  }
  if (is_visible) return outside_;
  return known->second = regions_.new_region(variable.isThreadLocal() ? Regions::kTls : kGlobal);
}

// Another one for each mention: there is no memory in it that all mentions would have in common,
// and what is done with one need not be with the others.
PointsTo::Region PointsTo::new_region_of(llvm::Function& function) {
  auto [known, is_new] =
      function_numbers_.try_emplace(&function, static_cast<std::uint32_t>(functions_.size()));
  if (is_new) functions_.push_back(&function);
  const Region region = regions_.new_region(0);
  regions_.add_function(region, known->second);
  return region;
}

std::uint64_t PointsTo::bytes_of(llvm::Type* type) const {
  const llvm::TypeSize size = layout_.getTypeStoreSize(type);
  return size.isScalable() ? 0 : size.getFixedValue();
}

// An index is taken to stay within the array that its type says it is for.
PointsTo::Distance PointsTo::distance_of(const llvm::Value& computation) const {
  const auto* steps = llvm::dyn_cast<llvm::GEPOperator>(&computation);
  if (steps == nullptr || steps->getType()->isVectorTy()) return Regions::kAnywhere;
  Distance distance;
  const llvm::Type* indexed = nullptr;  // nullptr: the pointer itself
  for (auto step = llvm::gep_type_begin(steps); step != llvm::gep_type_end(steps); ++step) {
    const auto* array = llvm::dyn_cast_or_null<llvm::ArrayType>(indexed);
    indexed = step.getIndexedType();
    const auto* index = llvm::dyn_cast<llvm::ConstantInt>(step.getOperand());
    if (llvm::StructType* structure = step.getStructTypeOrNull()) {
      const llvm::StructLayout* places = layout_.getStructLayout(structure);
      distance.least += static_cast<std::int64_t>(
          places->getElementOffset(static_cast<unsigned>(index->getZExtValue())).getFixedValue());
      continue;
    }
    const llvm::TypeSize each = step.getSequentialElementStride(layout_);
    if (each.isScalable()) return Regions::kAnywhere;
    if (index != nullptr) {
      distance.least += index->getSExtValue() * static_cast<std::int64_t>(each.getFixedValue());
      continue;
    }
    // One element or none: an array that goes on behind its structure.
    if (array == nullptr || array->getNumElements() < 2) return Regions::kAnywhere;
    distance.span += (array->getNumElements() - 1) * each.getFixedValue();
  }
  return distance;
}

PointsTo::Slot PointsTo::slot_of(const llvm::Value* value) {
  auto known = slots_.find(value);
  if (known != slots_.end()) return known->second;
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(value)) {
    const Slot slot = slot_of_constant(constant);
    if (!llvm::isa<llvm::Function>(constant)) slots_[value] = slot;
    return slot;
  }
  return slots_[value] = regions_.new_slot();
}

PointsTo::Slot PointsTo::slot_of_constant(const llvm::Constant* constant) {
  if (const auto* alias = llvm::dyn_cast<llvm::GlobalAlias>(constant)) {
    return slot_of(alias->getAliasee());
  }
  const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(constant);
  const auto* function = llvm::dyn_cast<llvm::Function>(constant);
  if (variable != nullptr || (function != nullptr && !function->isIntrinsic())) {
    const Region region = variable != nullptr
                              ? region_of(*variable)
                              : new_region_of(*const_cast<llvm::Function*>(function));
    const Slot slot = regions_.new_slot();
    regions_.point(slot, {region, {}});
    return slot;
  }
  if (llvm::isa<llvm::GlobalValue, llvm::ConstantData, llvm::BlockAddress>(constant)) {
    return Regions::kNone;
  }
  Slot all = Regions::kNone;
  for (const llvm::Value* operand : constant->operand_values()) {
    const Slot slot = slot_of(operand);
    if (slot == Regions::kNone) continue;
    if (all == Regions::kNone) all = regions_.new_slot();
    flows_.move(slot, all, As::Pointer, distance_of(*constant));
  }
  return all;
}

PointsTo::Slot PointsTo::result_of(const llvm::Function& function) {
  auto [result, is_new] = returns_.try_emplace(&function, 0);
  if (is_new) result->second = regions_.new_slot();
  return result->second;
}

void PointsTo::copy(const llvm::Value* from, const llvm::Value* to, Distance distance) {
  const bool are_pointers = holds_pointers(from->getType()) && holds_pointers(to->getType());
  flows_.move(slot_of(from), slot_of(to), are_pointers ? As::Pointer : As::Number, distance);
}

void PointsTo::load(const llvm::Value* pointer, const llvm::Value* result, llvm::Type* type) {
  flows_.load(slot_of(pointer), slot_of(result), flows_as(type), bytes_of(type));
}

void PointsTo::store(const llvm::Value* value, const llvm::Value* pointer) {
  mark_written(pointer);
  flows_.store(slot_of(value), slot_of(pointer), flows_as(value->getType()),
               bytes_of(value->getType()));
}

void PointsTo::copy_contents(const llvm::Value* from, const llvm::Value* to, std::uint64_t bytes) {
  flows_.copy_memory(slot_of(from), slot_of(to), bytes);
}

void PointsTo::mark_written(const llvm::Value* pointer) {
  const Slot slot = slot_of(pointer);
  if (slot == Regions::kNone) return;
  written_.push_back(slot);
  flows_.use(slot);
}

void PointsTo::fill_from_outside(const llvm::Value* pointer) {
  mark_written(pointer);
  flows_.store(outside_slot_, slot_of(pointer), As::Pointer, 0);
}

// Followed as a number: what points nowhere that is known does not point outside for being shown.
void PointsTo::give_away(const llvm::Value* value) {
  flows_.move(slot_of(value), outside_slot_, As::Number, Regions::kAnywhere);
}

void PointsTo::come_from_outside(const llvm::Value* value) {
  const llvm::Type* type = value->getType();
  if (type->isVoidTy() || !is_wide(type)) return;
  flows_.move(outside_slot_, slot_of(value), flows_as(type), Regions::kAnywhere);
}

void PointsTo::add_function(llvm::Function& function) {
  for (llvm::Argument& argument : function.args()) {
    if (!argument.hasByValAttr()) continue;
    regions_.point(slot_of(&argument), {regions_.new_region(Regions::kStack), {}});
  }
  for (llvm::Instruction& instruction : llvm::instructions(function)) add_instruction(instruction);
}

void PointsTo::open(llvm::Function& function) {
  open_.insert(&function);
  for (llvm::Argument& argument : function.args()) {
    if (argument.hasByValAttr()) {
      flows_.store(outside_slot_, slot_of(&argument), As::Pointer, 0);
    } else {
      come_from_outside(&argument);
    }
  }
  if (!function.getReturnType()->isVoidTy() && is_wide(function.getReturnType())) {
    flows_.move(result_of(function), outside_slot_, As::Number, Regions::kAnywhere);
  }
}

// Numbers narrower than a pointer are followed where they are copied, made wider or narrower, not
// where they are computed with.
void PointsTo::add_instruction(llvm::Instruction& instruction) {
  using llvm::Instruction;
  switch (instruction.getOpcode()) {
    case Instruction::Alloca: {
      // A coroutine that is not split yet: the variable will move to its frame, and travel.
      const bool may_move = instruction.getFunction()->isPresplitCoroutine();
      regions_.point(slot_of(&instruction),
                     {may_move ? outside_ : regions_.new_region(Regions::kStack), {}});
      break;
    }
    case Instruction::Load:
      load(instruction.getOperand(0), &instruction, instruction.getType());
      break;
    case Instruction::Store: store(instruction.getOperand(0), instruction.getOperand(1)); break;
    case Instruction::AtomicRMW:
      load(instruction.getOperand(0), &instruction, instruction.getType());
      store(instruction.getOperand(1), instruction.getOperand(0));
      break;
    case Instruction::AtomicCmpXchg:
      load(instruction.getOperand(0), &instruction, instruction.getOperand(2)->getType());
      store(instruction.getOperand(2), instruction.getOperand(0));
      break;
    case Instruction::GetElementPtr: {
      copy(instruction.getOperand(0), &instruction, distance_of(instruction));
      // An address may also be counted from nowhere.
      if (!llvm::isa<llvm::ConstantPointerNull>(instruction.getOperand(0))) break;
      for (const llvm::Value* index : llvm::drop_begin(instruction.operand_values())) {
        copy(index, &instruction, Regions::kAnywhere);
      }
      break;
    }
    case Instruction::Select:
      copy(instruction.getOperand(1), &instruction);
      copy(instruction.getOperand(2), &instruction);
      break;
    case Instruction::Ret: {
      if (instruction.getNumOperands() == 0) break;
      const llvm::Value* value = instruction.getOperand(0);
      flows_.move(slot_of(value), result_of(*instruction.getFunction()),
                  flows_as(value->getType()));
      break;
    }
    case Instruction::Call:
    case Instruction::Invoke:
    case Instruction::CallBr: add_call(llvm::cast<llvm::CallBase>(instruction)); break;
    case Instruction::Resume: give_away(instruction.getOperand(0)); break;
    case Instruction::VAArg:
    case Instruction::LandingPad:
    case Instruction::CatchPad:
    case Instruction::CleanupPad: come_from_outside(&instruction); break;
    case Instruction::Sub:
      if (is_distance(instruction)) break;
      [[fallthrough]];
    case Instruction::Add:
    case Instruction::And:
    case Instruction::Or:
    case Instruction::Xor:
    case Instruction::Shl:
    case Instruction::LShr:
    case Instruction::AShr:
      if (!is_address_arithmetic(instruction.getType())) break;
      for (const llvm::Value* operand : instruction.operand_values()) {
        copy(operand, &instruction, Regions::kAnywhere);
      }
      break;
    case Instruction::PHI:
    case Instruction::Freeze:
    case Instruction::ExtractValue:
    case Instruction::InsertValue:
    case Instruction::ExtractElement:
    case Instruction::InsertElement:
    case Instruction::ShuffleVector:
      for (const llvm::Value* operand : instruction.operand_values()) copy(operand, &instruction);
      break;
    default:
      if (instruction.isCast()) copy(instruction.getOperand(0), &instruction);
      break;  // the rest computes numbers no pointer is made of, or only jumps
  }
}

}  // namespace heddle::pass
