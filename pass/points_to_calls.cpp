// SPDX-License-Identifier: Apache-2.0
//
// The part of PointsTo that knows what calls do: within the program, through pointers, and out of
// it.
#include "llvm/Analysis/MemoryBuiltins.h"
#include "llvm/IR/InstrTypes.h"
#include "pass/allocation.h"
#include "pass/points_to.h"
#include "pass/value_flow.h"

namespace heddle::pass {
namespace {

using As = Flows::As;

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

// Whoever receives these bytes may be a thread of this program, and they may be a pointer.
const llvm::Value* sent_by(const llvm::CallBase& call, llvm::LibFunc function) {
  switch (function) {
    case llvm::LibFunc_write:
    case llvm::LibFunc_pwrite: return call.getArgOperand(1);
    case llvm::LibFunc_fwrite:
    case llvm::LibFunc_fwrite_unlocked: return call.getArgOperand(0);
    default: return nullptr;
  }
}

}  // namespace

void PointsTo::add_call(llvm::CallBase& call) {
  if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&call))
    return add_intrinsic(*intrinsic);
  llvm::Value* target = call.getCalledOperand()->stripPointerCastsAndAliases();
  auto* callee = llvm::dyn_cast<llvm::Function>(target);
  if (callee != nullptr) return link(call, *callee);
  const Slot slot = call.isInlineAsm() ? Regions::kNone : slot_of(target);
  if (slot == Regions::kNone) return add_unknown_call(call);
  indirect_calls_.push_back({&call, slot});
  flows_.use(slot);
}

void PointsTo::link(llvm::CallBase& call, llvm::Function& callee) {
  if (!callee.isDeclarationForLinker() && !callee.isInterposable()) {
    add_inner_call(call, callee);
  } else {
    add_outer_call(call, callee);
  }
}

void PointsTo::add_inner_call(llvm::CallBase& call, llvm::Function& callee) {
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    llvm::Value* argument = call.getArgOperand(i);
    if (i >= callee.arg_size()) {
      give_away(argument);  // read through a va_list
    } else if (callee.getArg(i)->hasByValAttr()) {
      copy_contents(argument, callee.getArg(i), bytes_of(callee.getParamByValType(i)));
    } else if (!is_only_freed(*callee.getArg(i), library_)) {
      copy(argument, callee.getArg(i));
    }
  }
  if (call.getType()->isVoidTy()) return;
  if (is_allocator(callee, library_)) return add_allocation(call);
  flows_.move(result_of(callee), slot_of(&call), flows_as(call.getType()));
}

// Each call is an allocation of its own, also if it goes through a function that hands it on.
void PointsTo::add_allocation(llvm::CallBase& call) {
  auto [known, is_new] = allocations_.try_emplace(&call, Regions::kNone);
  if (is_new) known->second = regions_.new_region(Regions::kHeap | Regions::kWritten);
  regions_.point(slot_of(&call), {known->second, {}});
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
  if (frees(call, library_)) return;
  if (is_allocation(call, library_)) {
    add_allocation(call);
    // realloc: what was at the old place is now at the new one, which may be the same.
    if (const llvm::Value* old = llvm::getReallocatedOperand(&call)) copy(old, &call);
    return;
  }
  add_library_call(call, function);
}

void PointsTo::add_thread_call(llvm::CallBase& call, ThreadCall kind) {
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    const llvm::Value* argument = call.getArgOperand(i);
    if (kind == ThreadCall::Create && i >= 2) {  // what the thread runs, and what it is given
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
  if (writes == Writes::Copies) {
    const unsigned to = function == llvm::LibFunc_bcopy ? 1 : 0;
    copy_contents(call.getArgOperand(1 - to), call.getArgOperand(to), 0);
  }
  if (const llvm::Value* sent = sent_by(call, function)) {
    flows_.load(slot_of(sent), outside_slot_, As::Number, 0);
  }
  const llvm::Value* returned = call.getReturnedArgOperand();
  if (returned != nullptr) copy(returned, &call);
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    const llvm::Value* argument = call.getArgOperand(i);
    if (!argument->getType()->isPointerTy()) continue;
    if (slot_of(argument) != Regions::kNone) {
      given_to_libraries_.push_back({&call, slot_of(argument)});
      flows_.use(slot_of(argument));
    }
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
    const auto* length = llvm::dyn_cast<llvm::ConstantInt>(transfer->getLength());
    return copy_contents(transfer->getRawSource(), transfer->getRawDest(),
                         length == nullptr ? 0 : length->getZExtValue());
  }
  if (const auto* set = llvm::dyn_cast<llvm::AnyMemSetInst>(&call)) {
    return mark_written(set->getRawDest());
  }
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::masked_load:
    case llvm::Intrinsic::masked_gather:
      load(call.getArgOperand(0), &call, call.getType());
      copy(call.getArgOperand(call.arg_size() - 1), &call);  // for lanes that are off
      return;
    case llvm::Intrinsic::masked_store:
    case llvm::Intrinsic::masked_scatter:
      return store(call.getArgOperand(0), call.getArgOperand(1));
    case llvm::Intrinsic::ptrmask: return copy(call.getArgOperand(0), &call, Regions::kAnywhere);
    case llvm::Intrinsic::threadlocal_address:
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
    if (is_wide(argument->getType())) copy(argument, &call, Regions::kAnywhere);
  }
}

}  // namespace heddle::pass
