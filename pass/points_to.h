// SPDX-License-Identifier: Apache-2.0
//
// Which memory each pointer of the program may point to, by one walk over all of its code. Whatever
// code outside may see or keep is one region, shared and written. A call through a pointer goes to
// the functions that the pointer may point to, and outside if it may come from there.
// docs/decisions/0012-sharing-by-unification.md says why it is no more precise,
// 0019-fields-and-callees.md what it tells apart.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "pass/flows.h"
#include "pass/regions.h"
#include "pass/thread_library.h"

namespace heddle::pass {

class PointsTo {
 public:
  explicit PointsTo(llvm::Module& module);

  /// Flags of what `pointer` may point to (Regions::Flag); 0 if nothing is known of it.
  unsigned flags_of(const llvm::Value* pointer);
  /// True if code outside may know of it, or made it.
  bool may_be_outside(const llvm::Value* pointer);

 private:
  using Slot = Regions::Slot;
  using Region = Regions::Region;
  using Distance = Regions::Distance;

  /// A call whose callee is a value; who that is becomes known as pointers are followed.
  struct IndirectCall {
    llvm::CallBase* call;
    Slot callee;
    bool is_linked = false;  // to at least one function
    bool leads_outside = false;
  };
  /// A library may call what it is given, also if it does not keep it (qsort).
  struct GivenToLibrary {
    llvm::CallBase* call;
    Slot argument;
    bool settled = false;
  };

  void add_globals(const llvm::Module& module);
  void add_initial_value(Region region, std::int64_t offset, const llvm::Constant* value);
  void add_function(llvm::Function& function);
  void add_instruction(llvm::Instruction& instruction);
  void add_call(llvm::CallBase& call);
  void add_inner_call(llvm::CallBase& call, llvm::Function& callee);
  void add_outer_call(llvm::CallBase& call, const llvm::Function& callee);
  void add_thread_call(llvm::CallBase& call, ThreadCall kind);
  void add_library_call(llvm::CallBase& call, llvm::LibFunc function);
  void add_intrinsic(llvm::IntrinsicInst& call);
  void add_unknown_call(llvm::CallBase& call);
  void add_allocation(llvm::CallBase& call);
  void link(llvm::CallBase& call, llvm::Function& callee);

  /// Code outside may call it: with anything it has.
  void open(llvm::Function& function);
  void solve();
  bool link_indirect_calls();
  bool open_functions_outside();
  bool settle_given_to_libraries();

  /// kNone for what holds no pointer to memory: numbers, null.
  Slot slot_of(const llvm::Value* value);
  Slot slot_of_constant(const llvm::Constant* constant);
  Slot result_of(const llvm::Function& function);
  Region region_of(const llvm::GlobalVariable& variable);
  Region new_region_of(llvm::Function& function);
  std::uint64_t bytes_of(llvm::Type* type) const;
  /// How far what a pointer computation gives is from what it is given.
  Distance distance_of(const llvm::Value& computation) const;

  void copy(const llvm::Value* from, const llvm::Value* to, Distance distance = {});
  void load(const llvm::Value* pointer, const llvm::Value* result, llvm::Type* type);
  void store(const llvm::Value* value, const llvm::Value* pointer);
  void copy_contents(const llvm::Value* from, const llvm::Value* to, std::uint64_t bytes);
  void mark_written(const llvm::Value* pointer);
  /// What is written there may point to anything that code outside has.
  void fill_from_outside(const llvm::Value* pointer);
  /// Code we do not see gets the value, and may keep it.
  void give_away(const llvm::Value* value);
  void come_from_outside(const llvm::Value* value);

  const llvm::DataLayout& layout_;
  llvm::TargetLibraryInfoImpl library_data_;
  llvm::TargetLibraryInfo library_;
  Regions regions_;
  Flows flows_;
  Region outside_;
  Slot outside_slot_;
  llvm::DenseMap<const llvm::Value*, Slot> slots_;
  llvm::DenseMap<const llvm::GlobalVariable*, Region> variables_;
  llvm::DenseMap<const llvm::Function*, Slot> returns_;
  llvm::DenseMap<const llvm::CallBase*, Region> allocations_;
  std::vector<llvm::Function*> functions_;  // by the numbers that regions know them by
  llvm::DenseMap<const llvm::Function*, std::uint32_t> function_numbers_;
  llvm::SmallPtrSet<const llvm::Function*, 32> open_;
  llvm::SmallPtrSet<llvm::GlobalValue*, 8> used_;
  std::vector<Slot> written_;  // pointers that something is written through
  std::vector<IndirectCall> indirect_calls_;
  llvm::DenseSet<std::pair<std::size_t, std::uint32_t>> linked_;  // indirect calls, functions
  std::vector<GivenToLibrary> given_to_libraries_;
};

}  // namespace heddle::pass
