// SPDX-License-Identifier: Apache-2.0
#include "pass/dependences.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "abi/dependence_record.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "pass/code_facts.h"
#include "pass/thread_library.h"

namespace heddle::pass {
namespace {

using Node = std::uint32_t;

bool only_begins_threads(const llvm::Function& function) {
  return llvm::all_of(function.uses(), [&](const llvm::Use& use) {
    const auto* const call = llvm::dyn_cast<llvm::CallBase>(use.getUser());
    if (call == nullptr || call->isCallee(&use)) return call != nullptr;
    const llvm::Function* const callee = callee_of(*call);
    return callee != nullptr && thread_call(callee->getName()) == ThreadCall::Create;
  });
}

class Graph {
 public:
  Graph(llvm::Module& module, const ProgramLayout& layout, llvm::ArrayRef<Site> sites)
      : layout_(layout) {
    for (const Site& site : sites) {
      if (site.hooked) hooked_.insert(site.instruction);
    }
    for (const ProgramLayout::Block& block : layout.blocks()) {
      for (const llvm::Instruction& instruction : *block.block) {
        instructions_ = std::max(instructions_, layout.number_of(instruction));
      }
    }
    next_ = instructions_ + 1;
    memory_ = next_++;
    outside_ = next_++;
    pointed_to_ = next_++;
    for (llvm::Function& function : module) {
      if (is_instrumented(function)) add_function(function);
    }
    // Code outside may be given what is in memory, and may leave anything there.
    add(outside_, memory_);
    add(memory_, outside_);
  }

  std::string bytes() {
    std::sort(edges_.begin(), edges_.end());
    edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
    std::vector<std::uint32_t> numbers;
    numbers.reserve(next_ + 1 + edges_.size());
    std::size_t edge = 0;
    for (Node node = 0; node <= next_; ++node) {
      while (edge < edges_.size() && edges_[edge].first < node) ++edge;
      numbers.push_back(static_cast<std::uint32_t>(edge));
    }
    for (const auto& [from, to] : edges_) numbers.push_back(to);
    const abi::DependenceHeader header{abi::kDependenceMagic, abi::kDependenceVersion,
                                       instructions_, next_,
                                       static_cast<std::uint32_t>(edges_.size())};
    std::string all(reinterpret_cast<const char*>(&header), sizeof header);
    all.append(reinterpret_cast<const char*>(numbers.data()),
               numbers.size() * sizeof(std::uint32_t));
    return all;
  }

 private:
  /// `what` may depend on `on`.
  void add(Node what, Node on) {
    if (what != 0 && on != 0 && what != on) edges_.emplace_back(what, on);
  }

  Node shared_node(const llvm::Value& value) {
    auto [known, is_new] = nodes_.try_emplace(&value, next_);
    if (is_new) ++next_;
    return known->second;
  }

  Node node_of(const llvm::Value* value) {
    if (const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value)) {
      return layout_.number_of(*instruction);
    }
    return llvm::isa<llvm::Argument>(value) ? shared_node(*value) : 0;
  }

  /// That the block is reached.
  Node reached(const llvm::BasicBlock& block) { return shared_node(block); }
  /// That the function is called.
  Node called(const llvm::Function& function) { return shared_node(function); }
  /// What it gives back.
  Node returned(const llvm::Function& function) {
    auto [known, is_new] = returned_.try_emplace(&function, next_);
    if (is_new) ++next_;
    return known->second;
  }

  Node memory_behind(const llvm::Value* pointer) {
    const llvm::Value* const object = llvm::getUnderlyingObject(pointer, 0);
    if (const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(object)) {
      auto [known, is_new] = private_.try_emplace(variable, 0);
      if (is_new && is_private(*variable)) known->second = next_++;
      if (known->second != 0) return known->second;
    }
    return memory_;
  }

  void add_function(llvm::Function& function) {
    add_control(function);
    // Whoever calls through a pointer, or is given one, may call it. That threads begin with it is
    // in traces.
    if ((function.hasAddressTaken() && !only_begins_threads(function)) ||
        !function.hasLocalLinkage()) {
      add(called(function), pointed_to_);
      for (const llvm::Argument& argument : function.args()) {
        add(shared_node(argument), pointed_to_);
      }
      add(pointed_to_, returned(function));
    }
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (layout_.number_of(instruction) != 0) add_instruction(instruction);
    }
  }

  void add_control(llvm::Function& function) {
    for (llvm::BasicBlock& block : function) add(reached(block), called(function));
    for_each_decision(function, [&](llvm::BasicBlock& block, llvm::Instruction& branch) {
      add(reached(block), node_of(&branch));
    });
  }

  void add_instruction(llvm::Instruction& instruction) {
    const Node node = layout_.number_of(instruction);
    add(node, reached(*instruction.getParent()));
    for (const llvm::Use& operand : instruction.operands()) add(node, node_of(operand.get()));
    if (const auto* choice = llvm::dyn_cast<llvm::PHINode>(&instruction)) {
      for (const llvm::BasicBlock* from : choice->blocks()) {
        add(node, reached(*from));
        if (from->getTerminator()->getNumSuccessors() > 1)
          add(node, node_of(from->getTerminator()));
      }
    } else if (const auto* result = llvm::dyn_cast<llvm::ReturnInst>(&instruction)) {
      add(returned(*result->getFunction()), node);
    } else if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
      add_call(*call, node);
    } else if (!hooked_.contains(&instruction)) {
      add_unseen_access(instruction, node);
    }
  }

  /// An access that is in no trace.
  void add_unseen_access(const llvm::Instruction& instruction, Node node) {
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      add(node, memory_behind(load->getPointerOperand()));
    } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      add(memory_behind(store->getPointerOperand()), node);
    } else if (instruction.mayReadOrWriteMemory()) {
      add(node, memory_);
      add(memory_, node);
    }
  }

  void add_call(const llvm::CallBase& call, Node node) {
    const llvm::Function* const callee = callee_of(call);
    if (callee != nullptr && is_instrumented(*callee)) {
      add(called(*callee), reached(*call.getParent()));
      add(node, returned(*callee));
      const unsigned count = std::min<unsigned>(call.arg_size(), callee->arg_size());
      for (unsigned i = 0; i < count; ++i) {
        add(shared_node(*callee->getArg(i)), node_of(call.getArgOperand(i)));
      }
      // What a function of variable arguments finds behind the named ones is in memory.
      if (callee->isVarArg()) add(memory_, node);
      return;
    }
    if (call.doesNotReturn()) return;  // there is nothing behind it
    const bool is_known =
        callee != nullptr && (callee->isIntrinsic() || call.onlyAccessesInaccessibleMemOrArgMem());
    if (is_known) {
      if (hooked_.contains(&call) && callee->isIntrinsic()) return;  // what it does is in the trace
      if (!call.doesNotAccessMemory()) add(node, memory_);
      if (!call.onlyReadsMemory()) add(memory_, node);
      return;
    }
    const ThreadCall thread = callee == nullptr ? ThreadCall::None : thread_call(callee->getName());
    if (thread == ThreadCall::UsesOnly || thread == ThreadCall::Create) return;  // so is this
    // Code outside, or whatever a pointer points to.
    add(node, outside_);
    add(outside_, node);
    add(node, pointed_to_);
    add(pointed_to_, node);
  }

  const ProgramLayout& layout_;
  llvm::DenseSet<const llvm::Instruction*> hooked_;
  Node instructions_ = 0;
  Node next_ = 0;
  Node memory_ = 0;      // what no other thread sees and is no variable of its own here
  Node outside_ = 0;     // what code outside keeps
  Node pointed_to_ = 0;  // what functions that may be called through pointers get and give
  llvm::DenseMap<const llvm::Value*, Node> nodes_;
  llvm::DenseMap<const llvm::Function*, Node> returned_;
  llvm::DenseMap<const llvm::AllocaInst*, Node> private_;
  std::vector<std::pair<Node, Node>> edges_;
};

}  // namespace

void emit_dependences(llvm::Module& module, const ProgramLayout& layout,
                      llvm::ArrayRef<Site> sites) {
  Graph graph(module, layout, sites);
  llvm::Constant* data =
      llvm::ConstantDataArray::getString(module.getContext(), graph.bytes(), /*AddNull=*/false);
  auto* table = new llvm::GlobalVariable(module, data->getType(), /*isConstant=*/true,
                                         llvm::GlobalValue::PrivateLinkage, data, "heddle.depends");
  table->setSection(abi::kDependenceSection);
  table->setAlignment(llvm::Align(alignof(std::uint32_t)));
  llvm::appendToUsed(module, {table});
}

}  // namespace heddle::pass
