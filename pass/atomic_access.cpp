// SPDX-License-Identifier: Apache-2.0
//
// Atomic loads, stores, read-modify-writes, compare-exchanges and fences.
#include <optional>

#include "llvm/IR/Instructions.h"
#include "llvm/Support/AtomicOrdering.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LowerAtomic.h"
#include "pass/instrumenter.h"
#include "pass/value_bits.h"

namespace heddle::pass {
namespace {

// abi::MemoryOrder has the values of the C ABI.
llvm::Value* order(Place& place, llvm::AtomicOrdering ordering) {
  return place.builder.getInt32(static_cast<std::uint32_t>(llvm::toCABI(ordering)));
}

void replace(llvm::Instruction& instruction, llvm::Value* value) {
  value->takeName(&instruction);
  instruction.replaceAllUsesWith(value);
  instruction.eraseFromParent();
}

void rewrite_load(Place& place, llvm::LoadInst& load) {
  llvm::Value* bits =
      place.hooks.call(place.builder, for_size(HookId::__heddle_atomic_load1, place.site.bytes),
                       {load.getPointerOperand(), order(place, load.getOrdering()), place.id()});
  replace(load, from_bits(place.builder, bits, load.getType(), place.layout()));
}

void rewrite_store(Place& place, llvm::StoreInst& store) {
  llvm::Value* bits = to_bits(place.builder, store.getValueOperand(), place.layout());
  place.hooks.call(
      place.builder, for_size(HookId::__heddle_atomic_store1, place.site.bytes),
      {store.getPointerOperand(), bits, order(place, store.getOrdering()), place.id()});
  store.eraseFromParent();
}

std::optional<abi::RmwOperation> operation_of(llvm::AtomicRMWInst::BinOp operation) {
  using abi::RmwOperation;
  switch (operation) {
    case llvm::AtomicRMWInst::Xchg: return RmwOperation::Exchange;
    case llvm::AtomicRMWInst::Add: return RmwOperation::Add;
    case llvm::AtomicRMWInst::Sub: return RmwOperation::Sub;
    case llvm::AtomicRMWInst::And: return RmwOperation::And;
    case llvm::AtomicRMWInst::Nand: return RmwOperation::Nand;
    case llvm::AtomicRMWInst::Or: return RmwOperation::Or;
    case llvm::AtomicRMWInst::Xor: return RmwOperation::Xor;
    case llvm::AtomicRMWInst::Max: return RmwOperation::Max;
    case llvm::AtomicRMWInst::Min: return RmwOperation::Min;
    case llvm::AtomicRMWInst::UMax: return RmwOperation::UnsignedMax;
    case llvm::AtomicRMWInst::UMin: return RmwOperation::UnsignedMin;
    default: return std::nullopt;
  }
}

llvm::Value* compare_exchange(Place& place, llvm::Value* pointer, llvm::Value* expected,
                              llvm::Value* desired, llvm::AtomicOrdering success,
                              llvm::AtomicOrdering failure) {
  return place.hooks.call(
      place.builder, for_size(HookId::__heddle_atomic_cas1, place.site.bytes),
      {pointer, expected, desired, order(place, success), order(place, failure), place.id()});
}

// Floating-point and wrapping operations become what the processor does as well: a load and a loop
// of compare-exchanges, all at this site. The runtime needs no arithmetic of its own for them, and
// a retry is an event like any other.
//
//   first = atomic_load(p)
//   loop: loaded = phi [first], [found]
//         found = cas(p, loaded, loaded OP operand)
//         if (found != loaded) goto loop
void expand_update(Place& place, llvm::AtomicRMWInst& update) {
  llvm::IRBuilder<>& builder = place.builder;
  const llvm::DataLayout& layout = place.layout();
  llvm::Type* type = update.getType();
  llvm::Value* pointer = update.getPointerOperand();
  llvm::Value* first =
      place.hooks.call(builder, for_size(HookId::__heddle_atomic_load1, place.site.bytes),
                       {pointer, order(place, llvm::AtomicOrdering::Monotonic), place.id()});

  llvm::BasicBlock* before = update.getParent();
  llvm::BasicBlock* after = llvm::SplitBlock(before, &update);
  llvm::BasicBlock* loop =
      llvm::BasicBlock::Create(builder.getContext(), "heddle.update", before->getParent(), after);
  before->getTerminator()->setSuccessor(0, loop);

  builder.SetInsertPoint(loop);
  llvm::PHINode* loaded = builder.CreatePHI(first->getType(), 2);
  llvm::Value* old_value = from_bits(builder, loaded, type, layout);
  llvm::Value* new_value =
      llvm::buildAtomicRMWValue(update.getOperation(), builder, old_value, update.getValOperand());
  llvm::Value* found = compare_exchange(
      place, pointer, loaded, to_bits(builder, new_value, layout), update.getOrdering(),
      llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(update.getOrdering()));
  // Bits are compared, not values: a NaN equals itself here.
  builder.CreateCondBr(builder.CreateICmpEQ(found, loaded), after, loop);
  loaded->addIncoming(first, before);
  loaded->addIncoming(found, loop);

  old_value->takeName(&update);
  update.replaceAllUsesWith(old_value);
  update.eraseFromParent();
}

void rewrite_update(Place& place, llvm::AtomicRMWInst& update) {
  const std::optional<abi::RmwOperation> operation = operation_of(update.getOperation());
  if (!operation) {
    expand_update(place, update);
    return;
  }
  llvm::Value* operand = to_bits(place.builder, update.getValOperand(), place.layout());
  llvm::Value* bits =
      place.hooks.call(place.builder, for_size(HookId::__heddle_atomic_rmw1, place.site.bytes),
                       {update.getPointerOperand(), operand,
                        place.builder.getInt32(static_cast<std::uint32_t>(*operation)),
                        order(place, update.getOrdering()), place.id()});
  replace(update, from_bits(place.builder, bits, update.getType(), place.layout()));
}

void rewrite_compare_exchange(Place& place, llvm::AtomicCmpXchgInst& exchange) {
  llvm::IRBuilder<>& builder = place.builder;
  llvm::Value* expected = to_bits(builder, exchange.getCompareOperand(), place.layout());
  llvm::Value* desired = to_bits(builder, exchange.getNewValOperand(), place.layout());
  llvm::Value* found =
      compare_exchange(place, exchange.getPointerOperand(), expected, desired,
                       exchange.getSuccessOrdering(), exchange.getFailureOrdering());
  llvm::Value* value =
      from_bits(builder, found, exchange.getCompareOperand()->getType(), place.layout());
  llvm::Value* result = llvm::PoisonValue::get(exchange.getType());
  result = builder.CreateInsertValue(result, value, 0);
  result = builder.CreateInsertValue(result, builder.CreateICmpEQ(found, expected), 1);
  replace(exchange, result);
}

// cmpxchg16b and friends: announced as a read and a write at the same site.
void announce_wide(Place& place) {
  const abi::SiteKind kind = place.site.kind;
  llvm::Value* pointer = accessed_pointer(*place.site.instruction, kind);
  llvm::Value* bytes = place.builder.getInt64(place.site.bytes);
  if (kind != abi::SiteKind::AtomicStore) {
    place.hooks.call(place.builder, HookId::__heddle_range_read, {pointer, bytes, place.id()});
  }
  if (kind != abi::SiteKind::AtomicLoad) {
    place.hooks.call(place.builder, HookId::__heddle_range_write, {pointer, bytes, place.id()});
  }
}

llvm::Type* accessed_type(llvm::Instruction& instruction) {
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    return store->getValueOperand()->getType();
  }
  if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    return exchange->getCompareOperand()->getType();
  }
  return instruction.getType();
}

}  // namespace

void rewrite_atomic_access(Place& place) {
  llvm::Instruction& instruction = *place.site.instruction;
  if (const auto kept = fence_order(instruction)) {
    place.hooks.call(place.builder, HookId::__heddle_fence, {order(place, *kept), place.id()});
    // The processor's own may also be for stores that pass its caches by.
    if (llvm::isa<llvm::FenceInst>(instruction)) instruction.eraseFromParent();
  } else if (!hook_bytes(accessed_type(instruction), place.layout())) {
    announce_wide(place);
  } else if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    rewrite_load(place, *load);
  } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    rewrite_store(place, *store);
  } else if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
    rewrite_update(place, *update);
  } else {
    rewrite_compare_exchange(place, llvm::cast<llvm::AtomicCmpXchgInst>(instruction));
  }
}

}  // namespace heddle::pass
