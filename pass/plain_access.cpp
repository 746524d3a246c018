// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores that hooks perform. Volatile ones too: what volatile promises (every access
// happens, in order) a call to a hook keeps.
#include "llvm/IR/Instructions.h"
#include "pass/instrumenter.h"
#include "pass/value_bits.h"

namespace heddle::pass {
namespace {

void rewrite_load(Place& place, llvm::LoadInst& load) {
  llvm::Value* bits =
      place.hooks.call(place.builder, for_size(HookId::__heddle_load1, place.site.bytes),
                       {load.getPointerOperand(), place.id()});
  llvm::Value* value = from_bits(place.builder, bits, load.getType(), place.layout());
  value->takeName(&load);
  load.replaceAllUsesWith(value);
  load.eraseFromParent();
}

void rewrite_store(Place& place, llvm::StoreInst& store) {
  llvm::Value* bits = to_bits(place.builder, store.getValueOperand(), place.layout());
  place.hooks.call(place.builder, for_size(HookId::__heddle_store1, place.site.bytes),
                   {store.getPointerOperand(), bits, place.id()});
  store.eraseFromParent();
}

}  // namespace

void rewrite_plain_access(Place& place) {
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(place.site.instruction)) {
    rewrite_load(place, *load);
  } else {
    rewrite_store(place, *llvm::cast<llvm::StoreInst>(place.site.instruction));
  }
}

}  // namespace heddle::pass
