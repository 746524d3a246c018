// SPDX-License-Identifier: Apache-2.0
#include "pass/stretches.h"

#include <algorithm>
#include <iterator>

#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

namespace heddle::pass {
namespace {

bool is_plain(abi::SiteKind kind) {
  return kind == abi::SiteKind::Load || kind == abi::SiteKind::Store ||
         kind == abi::SiteKind::RangeRead || kind == abi::SiteKind::RangeWrite;
}

/// It can be done by either of two ways through the stretch: it has no hook of its own, there may
/// be two of it, and it never leaves the program.
bool goes_along(const llvm::Instruction& instruction) {
  if (instruction.isTerminator() || instruction.isAtomic() || instruction.isEHPad() ||
      llvm::isa<llvm::AllocaInst>(instruction) || instruction.getType()->isTokenTy()) {
    return false;
  }
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (call == nullptr || llvm::isa<llvm::AssumeInst>(call)) return true;
  if (!llvm::isa<llvm::IntrinsicInst>(call) || call->isConvergent() || call->cannotDuplicate()) {
    return false;
  }
  return call->doesNotAccessMemory() || llvm::isa<llvm::MemIntrinsic>(call);
}

bool reaches(const Stretch& stretch, const llvm::Instruction& next, abi::SiteId last_site) {
  if (last_site - stretch.first_site >= Stretch::kSites) return false;
  const llvm::Instruction* between = stretch.last->getNextNode();
  while (between != &next && between != nullptr && goes_along(*between)) {
    between = between->getNextNode();
  }
  return between == &next;
}

}  // namespace

std::vector<Stretch> find_stretches(llvm::ArrayRef<Site> sites) {
  std::vector<Stretch> stretches;
  std::vector<const Site*> plain;
  for (const Site& site : sites) {
    if (site.hooked && is_plain(site.kind)) plain.push_back(&site);
  }
  for (auto site = plain.begin(); site != plain.end();) {
    // A copy is two sites, which stay together.
    llvm::Instruction* instruction = (*site)->instruction;
    const auto end = std::find_if(
        site, plain.end(), [&](const Site* other) { return other->instruction != instruction; });
    if (stretches.empty() || !reaches(stretches.back(), *instruction, (*std::prev(end))->id)) {
      stretches.push_back({instruction, instruction, (*site)->id});
    }
    Stretch& stretch = stretches.back();
    stretch.last = instruction;
    for (; site != end; ++site) {
      stretch.members |= static_cast<std::uint8_t>(1U << ((*site)->id - stretch.first_site));
    }
  }
  return stretches;
}

}  // namespace heddle::pass
