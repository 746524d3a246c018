// SPDX-License-Identifier: Apache-2.0
#include "pass/instrumenter.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"
#include "pass/value_bits.h"

namespace heddle::pass {

Place::Place(const Site& wanted, Hooks& hook_table)
    : site(wanted), hooks(hook_table), builder(wanted.instruction) {
  // Without a location a hook in a function with debug information could not be inlined into one
  // that has it; line 0 says "generated".
  const llvm::Function& function = *site.instruction->getFunction();
  if (!site.instruction->getDebugLoc() && function.getSubprogram() != nullptr) {
    builder.SetCurrentDebugLocation(
        llvm::DILocation::get(function.getContext(), 0, 0, function.getSubprogram()));
  }
}

llvm::Value* Place::id() {
  return builder.getInt32(site.id);
}

const llvm::DataLayout& Place::layout() const {
  return site.instruction->getModule()->getDataLayout();
}

void rewrite(const Site& site, Hooks& hooks) {
  Place place(site, hooks);
  switch (site.kind) {
    case abi::SiteKind::Load:
    case abi::SiteKind::Store: rewrite_plain_access(place); break;
    case abi::SiteKind::AtomicLoad:
    case abi::SiteKind::AtomicStore:
    case abi::SiteKind::AtomicRmw:
    case abi::SiteKind::AtomicCas:
    case abi::SiteKind::Fence: rewrite_atomic_access(place); break;
    case abi::SiteKind::RangeRead:
    case abi::SiteKind::RangeWrite: announce_range_access(place); break;
    case abi::SiteKind::Assembly:
    case abi::SiteKind::Call: mark_outgoing_call(place); break;
    case abi::SiteKind::Function:
    case abi::SiteKind::Loop:
    case abi::SiteKind::Block:
    case abi::SiteKind::Branch: break;  // steps.cpp: not of one instruction
  }
}

}  // namespace heddle::pass
