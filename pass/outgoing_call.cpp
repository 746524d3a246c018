// SPDX-License-Identifier: Apache-2.0
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstrTypes.h"
#include "pass/instrumenter.h"

namespace heddle::pass {
namespace {

// Under a store-buffer memory model, code without hooks sees memory but not what this thread has
// pending. What looks at none of the program's memory (malloc, sqrt) need not.
void announce_leaving(Place& place, const llvm::CallBase& call) {
  const llvm::MemoryEffects effects = call.getMemoryEffects();
  if (effects.doesNotAccessMemory() || effects.onlyAccessesInaccessibleMem()) return;
  llvm::Value* callee = call.getCalledOperand();
  // Through a pointer the callee may as well be instrumented: the runtime looks where it leads.
  if (call.isInlineAsm() || call.getCalledFunction() != nullptr) {
    callee = llvm::ConstantPointerNull::get(place.builder.getPtrTy());
  }
  place.hooks.call(place.builder, HookId::__heddle_leave, {callee, place.id()});
}

}  // namespace

// The site is a plain store: where the callee provably looks at no memory (sqrt), the optimiser may
// drop it. Of malloc and its kin it thinks that they look at none of the program's, but the
// runtime, which is who allocates, does: there the store has to stay. All stands before the call
// and nothing comes after, so a musttail call stays one.
void mark_outgoing_call(Place& place) {
  const auto& call = llvm::cast<llvm::CallBase>(*place.site.instruction);
  announce_leaving(place, call);
  const llvm::MemoryEffects effects = call.getMemoryEffects();
  const bool seems_unread = !effects.doesNotAccessMemory() &&
                            !llvm::isRefSet(effects.getModRef(llvm::IRMemLocation::Other));
  place.builder.CreateStore(place.id(), &place.hooks.call_site(), /*isVolatile=*/seems_unread);
}

}  // namespace heddle::pass
