// SPDX-License-Identifier: Apache-2.0
//
// Which instructions of a program each one may depend on, read from the section that the pass wrote
// (abi/dependence_record.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::ir {

class DependenceGraph {
 public:
  /// Throws heddle::Error if the program has no such table or a damaged one.
  static DependenceGraph of_program(const std::filesystem::path& variant);
  /// `section` may hold anything; `name` is what error messages call it.
  static DependenceGraph parse(std::string_view section, const std::string& name);

  /// Instructions are numbered from 1 to this.
  std::uint32_t instruction_count() const { return instruction_count_; }

  /// A set of instructions, with all that they may depend on.
  class Closure {
   public:
    explicit Closure(const DependenceGraph& graph)
        : graph_(&graph), contains_(graph.first_edge_.size(), false) {}
    void add(std::uint32_t instruction);
    bool contains(std::uint32_t instruction) const { return contains_[instruction]; }
    /// Instructions in it.
    std::uint32_t size() const;

   private:
    const DependenceGraph* graph_;
    std::vector<bool> contains_;  // by node
  };

 private:
  std::uint32_t instruction_count_ = 0;
  std::vector<std::uint32_t> first_edge_;  // by node, and one behind the last
  std::vector<std::uint32_t> edges_;
};

}  // namespace heddle::ir
