// SPDX-License-Identifier: Apache-2.0
//
// Accesses that hooks cannot perform: they stay, and a hook before them says which bytes they
// touch. A hook told "0 bytes" does nothing: lengths are often known only at run time.
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "pass/instrumenter.h"

namespace heddle::pass {
namespace {

// Lanes are announced one by one, a lane that is masked off with no bytes: announcing the whole
// vector would name memory that is never touched and may not even be mapped.
void announce_lanes(Place& place, llvm::Value* address, llvm::Value* mask,
                    llvm::FixedVectorType& vector, Announce announce) {
  llvm::IRBuilder<>& builder = place.builder;
  llvm::Type* element = vector.getElementType();
  const std::uint64_t bytes = place.layout().getTypeStoreSize(element).getFixedValue();
  const bool is_gather = address->getType()->isVectorTy();
  for (unsigned lane = 0; lane < vector.getNumElements(); ++lane) {
    llvm::Value* pointer = is_gather ? builder.CreateExtractElement(address, lane)
                                     : builder.CreateConstGEP1_32(element, address, lane);
    llvm::Value* is_on = builder.CreateExtractElement(mask, lane);
    llvm::Value* length = builder.CreateSelect(is_on, builder.getInt64(bytes), builder.getInt64(0));
    announce(pointer, length);
  }
}

bool announce_masked(Place& place, llvm::IntrinsicInst& call, Announce announce) {
  llvm::Value* address = nullptr;
  llvm::Value* mask = nullptr;
  llvm::Type* type = nullptr;
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::masked_load:
    case llvm::Intrinsic::masked_gather:
      address = call.getArgOperand(0);
      mask = call.getArgOperand(2);
      type = call.getType();
      break;
    case llvm::Intrinsic::masked_store:
    case llvm::Intrinsic::masked_scatter:
      address = call.getArgOperand(1);
      mask = call.getArgOperand(3);
      type = call.getArgOperand(0)->getType();
      break;
    default: return false;
  }
  // Scalable vectors have no lanes that could be counted here.
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
    announce_lanes(place, address, mask, *vector, announce);
  }
  return true;
}

}  // namespace

void for_each_range(Place& place, Announce announce) {
  llvm::Instruction& instruction = *place.site.instruction;
  llvm::IRBuilder<>& builder = place.builder;
  auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (intrinsic != nullptr && announce_masked(place, *intrinsic, announce)) return;

  llvm::Value* length = builder.getInt64(place.site.bytes);
  if (auto* memory = llvm::dyn_cast<llvm::AnyMemIntrinsic>(&instruction)) {
    length = builder.CreateZExtOrTrunc(memory->getLength(), builder.getInt64Ty());
  }
  announce(accessed_pointer(instruction, place.site.kind), length);
}

void announce_range_access(Place& place) {
  const HookId hook = place.site.kind == abi::SiteKind::RangeRead ? HookId::__heddle_range_read
                                                                  : HookId::__heddle_range_write;
  for_each_range(place, [&](llvm::Value* pointer, llvm::Value* length) {
    place.hooks.call(place.builder, hook, {pointer, length, place.id()});
  });
}

}  // namespace heddle::pass
