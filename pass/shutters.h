// SPDX-License-Identifier: Apache-2.0
//
// A byte for each access in the code. While it is 0 the hook is called; the runtime sets it where
// an access need not be seen in the execution that begins, and the program then does it by itself:
//
//   %v = load i64, ptr %p                 %closed = load i8, ptr @heddle.shutters[21]
//                                         br (%closed == 0), label %hooked, label %plain
//                                         hooked: %a = call i64 @heddle.front_load8(ptr %p, i32 21)
//                                         plain:  %b = load i64, ptr %p
//                                         %v = phi [%a, %hooked], [%b, %plain]
//
// Only plain accesses have one: an atomic is a synchronisation, which is always seen.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "pass/hooks.h"
#include "pass/selection.h"

namespace heddle::pass {

class Shutters {
 public:
  /// Adds the bytes of these sites to the module, a constructor that shows them to the runtime, and
  /// hooks' fronts (fronts.h), which have the byte behind the last.
  Shutters(llvm::Module& module, llvm::ArrayRef<Site> sites, Hooks& hooks);

  /// Splits the block before the site's instruction. What is inserted at `open` happens while the
  /// shutter is open, what is inserted at `closed` while it is not.
  struct Ways {
    llvm::Instruction* open;
    llvm::Instruction* closed;
  };
  Ways split(const Site& site);

 private:
  llvm::GlobalVariable* bytes_ = nullptr;
  abi::SiteId first_ = 0;
};

}  // namespace heddle::pass
