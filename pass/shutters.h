// SPDX-License-Identifier: Apache-2.0
//
// A byte for each access in the code. While it is 0 the hook is called; the runtime sets it to 1
// where an access need not be seen in the execution that begins, and the program then does it by
// itself. Accesses of one stretch (stretches.h) are asked for together:
//
//   %v = load i64, ptr %p                 %bytes = load i16, ptr @heddle.shutters[21]
//   %w = add i64 %v, 1                    br (all of them are 1), label %closed, label %open
//   store i64 %w, ptr %q                  closed: the three as they were
//                                         open:   %v = call i64 @heddle.front_load8(ptr %p, i32 21)
//                                                 %w = add i64 %v, 1
//                                                 call @heddle.front_store8(ptr %q, i64 %w, i32 22)
//
// Where only some are closed, fronts (fronts.h) ask for each.
// Only plain accesses have one: an atomic is a synchronisation, which is always seen.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/Module.h"
#include "pass/hooks.h"
#include "pass/selection.h"
#include "pass/stretches.h"

namespace heddle::pass {

class Shutters {
 public:
  /// Adds the bytes of these sites to the module, a constructor that shows them to the runtime, and
  /// hooks' fronts, which have the byte behind the last.
  Shutters(llvm::Module& module, llvm::ArrayRef<Site> sites, Hooks& hooks);

  /// Makes a second way round the stretch, to be taken while all of it is closed. The instructions
  /// that were there are on the open one, still to be rewritten.
  void bypass(const Stretch& stretch);

 private:
  llvm::Value* are_all_closed(llvm::IRBuilderBase& builder, const Stretch& stretch);

  llvm::GlobalVariable* bytes_ = nullptr;
  abi::SiteId first_ = 0;
};

}  // namespace heddle::pass
