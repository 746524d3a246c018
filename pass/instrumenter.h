// SPDX-License-Identifier: Apache-2.0
//
// Rewrites one site at a time. Before and after, for a load and for a call out of the program:
//
//   %v = load double, ptr %p              %b = call i64 @__heddle_load8(ptr %p, i32 21)
//                                         %v = bitcast i64 %b to double
//
//   call void @unlock(ptr %m)             call void @__heddle_leave(ptr null, i32 22)
//                                         store i32 22, ptr @__heddle_call_site
//                                         call void @unlock(ptr %m)
//
// An access whose value fits a hook is replaced: the runtime performs it, since under a store
// buffer only the runtime knows what a load returns. Any other access stays and is announced just
// before.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "pass/hooks.h"
#include "pass/selection.h"

namespace heddle::pass {

/// What a rewriter works with: positioned at its instruction, with that one's debug location.
struct Place {
  Place(const Site& site, Hooks& hook_table);

  llvm::Value* id();
  const llvm::DataLayout& layout() const;

  const Site& site;
  Hooks& hooks;
  llvm::IRBuilder<> builder;
};

// One rewriter a family of instructions; each leaves the instruction (or its replacement) with the
// same result. The instruction may be gone afterwards.
void rewrite_plain_access(Place& place);   // plain_access.cpp: load, store
void rewrite_atomic_access(Place& place);  // atomic_access.cpp: atomics and fences
void announce_range_access(Place& place);  // range_access.cpp: what hooks cannot perform
void mark_outgoing_call(Place& place);     // outgoing_call.cpp

void rewrite(const Site& site, Hooks& hooks);

/// Calls `announce` with the address and length of each piece of memory that the access is about to
/// touch; whatever it inserts at the place comes before the access. range_access.cpp
using Announce = llvm::function_ref<void(llvm::Value* pointer, llvm::Value* length)>;
void for_each_range(Place& place, Announce announce);

}  // namespace heddle::pass
