// SPDX-License-Identifier: Apache-2.0
#include "pass/points_to.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/MemoryBuiltins.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "pass/selection.h"

namespace heddle::pass {
namespace {

bool is_wide(const llvm::Type* type) {
  return type->isPtrOrPtrVectorTy() || type->isAggregateType() ||
         type->getPrimitiveSizeInBits().getKnownMinValue() >= 64;
}

bool may_be_called_from_outside(const llvm::Function& function) {
  return !function.hasLocalLinkage() || function.hasAddressTaken();
}

constexpr unsigned kGlobal = Regions::kShared | Regions::kStatic;

enum class Writes { Copies, Bytes, Anything };

// What a library function writes through its pointers: what the others point to, mere bytes, or
// perhaps a pointer that it made or was given (strtol, getline).
Writes writes_of(llvm::LibFunc function) {
  switch (function) {
    case llvm::LibFunc_memcpy:
    case llvm::LibFunc_memmove:
    case llvm::LibFunc_mempcpy:
    case llvm::LibFunc_memccpy:
    case llvm::LibFunc_bcopy:
    case llvm::LibFunc_memcpy_chk:
    case llvm::LibFunc_memmove_chk:
    case llvm::LibFunc_mempcpy_chk:
    case llvm::LibFunc_memccpy_chk: return Writes::Copies;
    case llvm::LibFunc_memset:
    case llvm::LibFunc_memset_chk:
    case llvm::LibFunc_bzero:
    case llvm::LibFunc_strcpy:
    case llvm::LibFunc_strncpy:
    case llvm::LibFunc_stpcpy:
    case llvm::LibFunc_strcat:
    case llvm::LibFunc_strncat:
    case llvm::LibFunc_sprintf:
    case llvm::LibFunc_snprintf:
    case llvm::LibFunc_read:
    case llvm::LibFunc_pread:
    case llvm::LibFunc_fread:
    case llvm::LibFunc_fgets:
    case llvm::LibFunc_frexp:
    case llvm::LibFunc_modf:
    case llvm::LibFunc_gettimeofday:
    case llvm::LibFunc_stat:
    case llvm::LibFunc_fstat:
    case llvm::LibFunc_lstat: return Writes::Bytes;
    default: return Writes::Anything;
  }
}

}  // namespace

PointsTo::PointsTo(llvm::Module& module)
    : library_data_(llvm::Triple(module.getTargetTriple())),
      library_(library_data_),
      outside_(regions_.new_region(Regions::kShared | Regions::kWritten)),
      outside_slot_(regions_.new_slot()) {
  regions_.point(outside_slot_, outside_);
  regions_.merge(regions_.contents(outside_), outside_slot_);
  llvm::SmallVector<llvm::GlobalValue*, 8> used;
  llvm::collectUsedGlobalVariables(module, used, /*CompilerUsed=*/false);
  llvm::collectUsedGlobalVariables(module, used, /*CompilerUsed=*/true);
  used_.insert(used.begin(), used.end());
  add_globals(module);
  for (llvm::Function& function : module) {
    if (!function.isDeclarationForLinker()) add_function(function);
  }
  settle_given_away();
  regions_.spread_sharing();
}

unsigned PointsTo::flags_of(const llvm::Value* pointer) {
  const Slot slot = slot_of(pointer);
  const Region region = slot == Regions::kNone ? Regions::kNone : regions_.pointee(slot);
  return region == Regions::kNone ? 0 : regions_.flags(region);
}

void PointsTo::add_globals(const llvm::Module& module) {
  for (const llvm::GlobalVariable& variable : module.globals()) {
    if (variable.getName().starts_with("llvm.")) continue;  // lists for the code generator
    slot_of(&variable);
    if (!variable.hasInitializer()) continue;
    const Slot initial = slot_of(variable.getInitializer());
    if (initial != Regions::kNone) regions_.merge(regions_.contents(region_of(variable)), initial);
  }
  for (const llvm::GlobalAlias& alias : module.aliases()) {
    if (!alias.hasLocalLinkage()) give_away(alias.getAliasee());
  }
}

PointsTo::Region PointsTo::region_of(const llvm::GlobalVariable& variable) {
  return regions_.make_pointee(slot_of(&variable));
}

PointsTo::Slot PointsTo::slot_of(const llvm::Value* value) {
  auto known = slots_.find(value);
  if (known != slots_.end()) return known->second;
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(value)) {
    return slot_of_constant(constant);
  }
  return slots_[value] = regions_.new_slot();
}

PointsTo::Slot PointsTo::slot_of_constant(const llvm::Constant* constant) {
  if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(constant)) {
    const Slot slot = slots_[constant] = regions_.new_slot();
    const bool is_visible =
        !variable->hasLocalLinkage() || used_.contains(const_cast<llvm::GlobalVariable*>(variable));
    if (variable->isConstant() && !variable->isThreadLocal()) {
      regions_.point(slot, regions_.new_region(kGlobal));
      if (is_visible) regions_.merge(regions_.contents(region_of(*variable)), outside_slot_);
    } else if (is_visible) {
      regions_.point(slot, outside_);
    } else {
      regions_.point(slot,
                     regions_.new_region(variable->isThreadLocal() ? Regions::kTls : kGlobal));
    }
    return slot;
  }
  if (const auto* alias = llvm::dyn_cast<llvm::GlobalAlias>(constant)) {
    return slot_of(alias->getAliasee());
  }
  if (llvm::isa<llvm::GlobalValue, llvm::ConstantData, llvm::BlockAddress>(constant)) {
    return slots_[constant] = Regions::kNone;
  }
  Slot all = Regions::kNone;
  for (const llvm::Value* operand : constant->operand_values()) {
    const Slot slot = slot_of(operand);
    if (slot == Regions::kNone) continue;
    // One of its own: whoever copies the expression must not become the variable's name.
    if (all == Regions::kNone) all = regions_.new_slot();
    regions_.merge(all, slot);
  }
  return slots_[constant] = all;
}

void PointsTo::copy(const llvm::Value* from, const llvm::Value* to) {
  const Slot source = slot_of(from);
  const Slot destination = slot_of(to);
  if (source != Regions::kNone && destination != Regions::kNone) {
    regions_.merge(source, destination);
  }
}

void PointsTo::load(const llvm::Value* pointer, const llvm::Value* result) {
  const Slot slot = slot_of(pointer);
  if (slot == Regions::kNone) return;
  regions_.merge(slot_of(result), regions_.contents(regions_.make_pointee(slot)));
}

void PointsTo::store(const llvm::Value* value, const llvm::Value* pointer) {
  mark_written(pointer);
  const Slot slot = slot_of(pointer);
  const Slot source = slot_of(value);
  if (slot == Regions::kNone || source == Regions::kNone) return;
  regions_.merge(source, regions_.contents(regions_.make_pointee(slot)));
}

void PointsTo::copy_contents(const llvm::Value* from, const llvm::Value* to) {
  const Slot source = slot_of(from);
  const Slot destination = slot_of(to);
  if (source == Regions::kNone || destination == Regions::kNone) return;
  regions_.merge(regions_.contents(regions_.make_pointee(source)),
                 regions_.contents(regions_.make_pointee(destination)));
}

void PointsTo::mark_written(const llvm::Value* pointer) {
  const Slot slot = slot_of(pointer);
  if (slot == Regions::kNone) return;
  regions_.add_flags(regions_.make_pointee(slot), Regions::kWritten);
}

void PointsTo::fill_from_outside(const llvm::Value* pointer) {
  mark_written(pointer);
  const Slot slot = slot_of(pointer);
  if (slot == Regions::kNone) return;
  regions_.merge(regions_.contents(regions_.make_pointee(slot)), outside_slot_);
}

void PointsTo::give_away(const llvm::Value* value) {
  const Slot slot = slot_of(value);
  if (slot != Regions::kNone) given_away_.push_back(slot);
}

// Only at the end, and only what turned out to be a pointer: a number that is shown to somebody
// must not make outside memory of all the places it was copied to.
void PointsTo::settle_given_away() {
  for (bool changed = true; changed;) {
    changed = false;
    for (const Slot slot : given_away_) {
      const Region region = regions_.pointee(slot);
      if (region == Regions::kNone || region == regions_.pointee(outside_slot_)) continue;
      regions_.merge_regions(region, outside_);
      changed = true;
    }
  }
}

void PointsTo::come_from_outside(const llvm::Value* value) {
  if (!value->getType()->isVoidTy() && is_wide(value->getType())) {
    regions_.merge(slot_of(value), outside_slot_);
  }
}

void PointsTo::add_function(llvm::Function& function) {
  const bool from_outside = may_be_called_from_outside(function) || !is_instrumented(function);
  for (llvm::Argument& argument : function.args()) {
    if (argument.hasByValAttr()) {
      regions_.point(slot_of(&argument), regions_.new_region(Regions::kStack));
      if (from_outside) {
        regions_.merge(regions_.contents(regions_.make_pointee(slot_of(&argument))), outside_slot_);
      }
    } else if (from_outside) {
      come_from_outside(&argument);
    }
  }
  const Slot result = returns_.try_emplace(&function, regions_.new_slot()).first->second;
  if (from_outside && !function.getReturnType()->isVoidTy() && is_wide(function.getReturnType())) {
    regions_.merge(result, outside_slot_);
  }
  for (llvm::Instruction& instruction : llvm::instructions(function)) add_instruction(instruction);
}

// Numbers narrower than a pointer are followed where bytes of pointers are copied or put together
// (load, store, shift, or), not where they are computed with.
void PointsTo::add_instruction(llvm::Instruction& instruction) {
  using llvm::Instruction;
  switch (instruction.getOpcode()) {
    case Instruction::Alloca: {
      // A coroutine that is not split yet: the variable will move to its frame, and travel.
      const bool may_move = instruction.getFunction()->isPresplitCoroutine();
      regions_.point(slot_of(&instruction),
                     may_move ? outside_ : regions_.new_region(Regions::kStack));
      break;
    }
    case Instruction::Load: load(instruction.getOperand(0), &instruction); break;
    case Instruction::Store: store(instruction.getOperand(0), instruction.getOperand(1)); break;
    case Instruction::AtomicRMW:
      load(instruction.getOperand(0), &instruction);
      store(instruction.getOperand(1), instruction.getOperand(0));
      break;
    case Instruction::AtomicCmpXchg:
      load(instruction.getOperand(0), &instruction);
      store(instruction.getOperand(2), instruction.getOperand(0));
      break;
    case Instruction::GetElementPtr: copy(instruction.getOperand(0), &instruction); break;
    case Instruction::Select:
      copy(instruction.getOperand(1), &instruction);
      copy(instruction.getOperand(2), &instruction);
      break;
    case Instruction::Ret: {
      if (instruction.getNumOperands() == 0) break;
      const Slot value = slot_of(instruction.getOperand(0));
      if (value == Regions::kNone) break;
      const llvm::Function* function = instruction.getFunction();
      auto [result, is_new] = returns_.try_emplace(function, 0);
      if (is_new) result->second = regions_.new_slot();
      regions_.merge(value, result->second);
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
    case Instruction::Add:
    case Instruction::Sub:
      if (!is_wide(instruction.getType())) break;
      [[fallthrough]];
    case Instruction::And:
    case Instruction::Or:
    case Instruction::Xor:
    case Instruction::Shl:
    case Instruction::LShr:
    case Instruction::AShr:
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

void PointsTo::add_call(llvm::CallBase& call) {
  if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&call))
    return add_intrinsic(*intrinsic);
  llvm::Value* target = call.getCalledOperand()->stripPointerCastsAndAliases();
  auto* callee = llvm::dyn_cast<llvm::Function>(target);
  if (callee == nullptr) return add_unknown_call(call);
  if (!callee->isDeclarationForLinker() && !callee->isInterposable()) {
    return add_inner_call(call, *callee);
  }
  add_outer_call(call, *callee);
}

void PointsTo::add_inner_call(llvm::CallBase& call, llvm::Function& callee) {
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    llvm::Value* argument = call.getArgOperand(i);
    if (i >= callee.arg_size()) {
      give_away(argument);  // read through a va_list
    } else if (callee.getArg(i)->hasByValAttr()) {
      copy_contents(argument, callee.getArg(i));
    } else {
      copy(argument, callee.getArg(i));
    }
  }
  if (call.getType()->isVoidTy()) return;
  auto [result, is_new] = returns_.try_emplace(&callee, 0);
  if (is_new) result->second = regions_.new_slot();
  regions_.merge(slot_of(&call), result->second);
}

void PointsTo::add_unknown_call(llvm::CallBase& call) {
  for (const llvm::Value* argument : call.args()) {
    if (is_wide(argument->getType())) give_away(argument);
  }
  come_from_outside(&call);
}

void PointsTo::add_outer_call(llvm::CallBase& call, const llvm::Function& callee) {
  llvm::LibFunc function;
  const bool is_library =
      library_.getLibFunc(callee, function) && library_.has(function) && !call.isNoBuiltin();
  if (!is_library) {
    const ThreadCall kind = thread_call(callee.getName());
    return kind == ThreadCall::None ? add_unknown_call(call) : add_thread_call(call, kind);
  }
  // Code that was compiled without optimisation has no attributes to tell.
  const bool frees =
      llvm::getFreedOperand(&call, &library_) != nullptr || function == llvm::LibFunc_free;
  if (frees && call.getType()->isVoidTy()) return;
  if (llvm::isAllocationFn(&call, &library_) || function == llvm::LibFunc_malloc ||
      function == llvm::LibFunc_calloc) {
    regions_.point(slot_of(&call), regions_.new_region(Regions::kHeap | Regions::kWritten));
    // realloc: what was at the old place is now at the new one, which may be the same.
    if (llvm::getReallocatedOperand(&call) != nullptr) {
      copy(llvm::getReallocatedOperand(&call), &call);
    }
    return;
  }
  add_library_call(call, function);
}

void PointsTo::add_thread_call(llvm::CallBase& call, ThreadCall kind) {
  const unsigned kept = kind == ThreadCall::Create ? 3 : call.arg_size();
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    const llvm::Value* argument = call.getArgOperand(i);
    if (i == kept) {
      give_away(argument);
    } else if (!argument->getType()->isPointerTy()) {
      continue;
    } else if (kind == ThreadCall::Join) {
      fill_from_outside(argument);
    } else {
      mark_written(argument);
    }
  }
}

// What LLVM knows of the C library: which pointers it does not keep, and which it only reads
// through.
void PointsTo::add_library_call(llvm::CallBase& call, llvm::LibFunc function) {
  const Writes writes = writes_of(function);
  if (writes == Writes::Copies) copy_contents(call.getArgOperand(0), call.getArgOperand(1));
  const llvm::Value* returned = call.getReturnedArgOperand();
  if (returned != nullptr) copy(returned, &call);
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    const llvm::Value* argument = call.getArgOperand(i);
    if (!argument->getType()->isPointerTy()) continue;
    if (!call.doesNotCapture(i) && argument != returned) give_away(argument);
    if (call.onlyReadsMemory(i) || call.onlyReadsMemory()) continue;
    if (writes == Writes::Anything) {
      fill_from_outside(argument);
    } else {
      mark_written(argument);
    }
  }
  if (call.getType()->isPointerTy() && returned == nullptr) come_from_outside(&call);
}

void PointsTo::add_intrinsic(llvm::IntrinsicInst& call) {
  using llvm::Intrinsic::ID;
  if (call.isDebugOrPseudoInst() || call.isAssumeLikeIntrinsic()) return;
  if (const auto* transfer = llvm::dyn_cast<llvm::AnyMemTransferInst>(&call)) {
    mark_written(transfer->getRawDest());
    return copy_contents(transfer->getRawSource(), transfer->getRawDest());
  }
  if (const auto* set = llvm::dyn_cast<llvm::AnyMemSetInst>(&call)) {
    return mark_written(set->getRawDest());
  }
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::masked_load:
    case llvm::Intrinsic::masked_gather:
      load(call.getArgOperand(0), &call);
      copy(call.getArgOperand(call.arg_size() - 1), &call);  // for lanes that are off
      return;
    case llvm::Intrinsic::masked_store:
    case llvm::Intrinsic::masked_scatter:
      return store(call.getArgOperand(0), call.getArgOperand(1));
    case llvm::Intrinsic::threadlocal_address:
    case llvm::Intrinsic::ptrmask:
    case llvm::Intrinsic::launder_invariant_group:
    case llvm::Intrinsic::strip_invariant_group: return copy(call.getArgOperand(0), &call);
    case llvm::Intrinsic::vastart:
    case llvm::Intrinsic::vacopy:
      // A list of arguments is filled with what callers gave away.
      return fill_from_outside(call.getArgOperand(0));
    case llvm::Intrinsic::vaend:
    case llvm::Intrinsic::prefetch:
    case llvm::Intrinsic::stackrestore: return;
    default: break;
  }
  if (!call.doesNotAccessMemory()) return add_unknown_call(call);
  if (call.getType()->isVoidTy()) return;
  for (const llvm::Value* argument : call.args()) {
    if (is_wide(argument->getType())) copy(argument, &call);
  }
}

}  // namespace heddle::pass
