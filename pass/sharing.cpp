// SPDX-License-Identifier: Apache-2.0
#include "pass/sharing.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Metadata.h"
#include "pass/breakpoint_engine.h"

namespace heddle::pass {
namespace {

using abi::Sharing;

bool is_constant(const llvm::Value* object) {
  const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(object);
  return variable != nullptr && variable->isConstant();
}

bool is_breakpoint_state(const llvm::Value* object) {
  return is_breakpoint_argument(*object) ||
         (llvm::isa<llvm::GlobalVariable>(object) && is_breakpoint_engine(*object));
}

// The front end says which loads give the address of an object's table of virtual functions.
bool is_vtable(const llvm::Value* object) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(object);
  const llvm::MDNode* type =
      load == nullptr ? nullptr : load->getMetadata(llvm::LLVMContext::MD_tbaa);
  return type != nullptr && type->isTBAAVtableAccess();
}

}  // namespace

Sharing SharingAnalysis::of(const llvm::Value* pointer) {
  llvm::SmallVector<const llvm::Value*, 4> objects;
  llvm::getUnderlyingObjects(pointer, objects);
  if (llvm::all_of(objects, is_constant)) return Sharing::Constant;
  if (llvm::all_of(objects, is_breakpoint_state)) return Sharing::Breakpoint;
  if (llvm::all_of(objects, is_vtable)) return Sharing::Vtable;

  const unsigned flags = points_to_.flags_of(pointer);
  if ((flags & Regions::kShared) != 0) {
    const bool is_known = (flags & Regions::kStatic) != 0;
    return is_known && (flags & Regions::kWritten) == 0 ? Sharing::NeverWritten : Sharing::Shared;
  }
  if ((flags & Regions::kHeap) != 0) return Sharing::Heap;
  if ((flags & Regions::kTls) != 0) return Sharing::ThreadLocal;
  if ((flags & Regions::kStack) != 0) return Sharing::Stack;
  return Sharing::Shared;  // of unknown origin
}

bool SharingAnalysis::is_static(const llvm::Value* pointer) {
  constexpr unsigned kKinds = Regions::kStatic | Regions::kHeap | Regions::kStack | Regions::kTls;
  return (points_to_.flags_of(pointer) & kKinds) == Regions::kStatic &&
         !points_to_.may_be_outside(pointer);
}

}  // namespace heddle::pass
