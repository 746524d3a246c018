// SPDX-License-Identifier: Apache-2.0
//
// Which memory each pointer of the program may point to, by one walk over all of its code. Whatever
// code outside may see or keep is one region, shared and written; so is what goes through pointers
// to functions. docs/decisions/0012-sharing-by-unification.md says why it is no more precise.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "pass/regions.h"
#include "pass/thread_library.h"

namespace heddle::pass {

class PointsTo {
 public:
  explicit PointsTo(llvm::Module& module);

  /// Flags of what `pointer` may point to (Regions::Flag); 0 if nothing is known of it.
  unsigned flags_of(const llvm::Value* pointer);

 private:
  using Slot = Regions::Slot;
  using Region = Regions::Region;

  void add_globals(const llvm::Module& module);
  void add_function(llvm::Function& function);
  void add_instruction(llvm::Instruction& instruction);
  void add_call(llvm::CallBase& call);
  void add_inner_call(llvm::CallBase& call, llvm::Function& callee);
  void add_outer_call(llvm::CallBase& call, const llvm::Function& callee);
  void add_thread_call(llvm::CallBase& call, ThreadCall kind);
  void add_library_call(llvm::CallBase& call, llvm::LibFunc function);
  void add_intrinsic(llvm::IntrinsicInst& call);
  void add_unknown_call(llvm::CallBase& call);

  /// kNone for what holds no pointer to memory: numbers, null, functions.
  Slot slot_of(const llvm::Value* value);
  Slot slot_of_constant(const llvm::Constant* constant);
  Region region_of(const llvm::GlobalVariable& variable);

  void copy(const llvm::Value* from, const llvm::Value* to);
  void load(const llvm::Value* pointer, const llvm::Value* result);
  void store(const llvm::Value* value, const llvm::Value* pointer);
  void copy_contents(const llvm::Value* from, const llvm::Value* to);
  void mark_written(const llvm::Value* pointer);
  /// What is written there may point to anything that code outside has.
  void fill_from_outside(const llvm::Value* pointer);
  /// Code we do not see gets the value, and may keep it.
  void give_away(const llvm::Value* value);
  void settle_given_away();
  void come_from_outside(const llvm::Value* value);

  llvm::TargetLibraryInfoImpl library_data_;
  llvm::TargetLibraryInfo library_;
  Regions regions_;
  Region outside_;
  Slot outside_slot_;
  llvm::DenseMap<const llvm::Value*, Slot> slots_;
  llvm::DenseMap<const llvm::Function*, Slot> returns_;
  llvm::SmallPtrSet<llvm::GlobalValue*, 8> used_;
  std::vector<Slot> given_away_;
};

}  // namespace heddle::pass
