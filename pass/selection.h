// SPDX-License-Identifier: Apache-2.0
//
// Which instructions are sites, and which of them the full variant hooks.
//
// Every memory access, atomic, fence, memory intrinsic and call out of the program is a site,
// hooked or not: ids are given over all of them, before anything is rewritten, so that every
// variant made from the same bitcode numbers them alike.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "abi/abi.h"
#include "abi/site_record.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Module.h"
#include "pass/sharing.h"

namespace heddle::pass {

struct Site {
  llvm::Instruction* instruction;
  abi::SiteKind kind;
  std::uint64_t bytes;  // 0: not fixed
  abi::SiteId id;
  abi::Sharing sharing;
  bool hooked;
  const llvm::DILocation* location = nullptr;  // if it is not the instruction's
};

/// All sites in the order of their ids, which begin with `first`. A copying intrinsic has two, its
/// read first.
std::vector<Site> find_sites(llvm::Module& module, SharingAnalysis& analysis, abi::SiteId first);

/// Resolvers of indirect functions run while the dynamic linker still relocates the program: no
/// hook can be called from there.
llvm::SmallPtrSet<const llvm::Function*, 4> ifunc_resolvers(const llvm::Module& module);

/// The order that a fence, or an intrinsic that is one, keeps.
std::optional<llvm::AtomicOrdering> fence_order(const llvm::Instruction& instruction);

/// True for functions whose bodies Heddle looks at.
bool is_instrumented(const llvm::Function& function);

/// The address an access starts at; null for fences, calls and gathers.
llvm::Value* accessed_pointer(llvm::Instruction& instruction, abi::SiteKind kind);

}  // namespace heddle::pass
