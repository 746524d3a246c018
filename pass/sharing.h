// SPDX-License-Identifier: Apache-2.0
//
// Tells memory only one thread can reach, and memory nobody writes, from memory that must be
// watched.
#pragma once

#include "abi/site_record.h"
#include "llvm/IR/Module.h"
#include "pass/points_to.h"

namespace heddle::pass {

class SharingAnalysis {
 public:
  explicit SharingAnalysis(llvm::Module& module) : points_to_(module) {}

  /// What is behind `pointer`. All accesses of an object get the same answer: under a store buffer
  /// a plain load would miss the thread's own hooked store. Constants are the exception; they have
  /// no stores.
  abi::Sharing of(const llvm::Value* pointer);

  /// True for a pointer into the program's static variables and nothing else: its distance from
  /// where the program is loaded is the same in every run.
  bool is_static(const llvm::Value* pointer);

 private:
  PointsTo points_to_;
};

}  // namespace heddle::pass
