// SPDX-License-Identifier: Apache-2.0
#include "ir/dependence_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "abi/dependence_record.h"
#include "base/error.h"
#include "ir/elf_file.h"

namespace heddle::ir {
namespace {

Error damaged(const std::string& name, std::string_view why) {
  return user_error(
      fmt::format("the table of dependences of {} is damaged ({}); rebuild the program with "
                  "heddle-cc or heddle-c++",
                  name, why));
}

std::vector<std::uint32_t> take(std::string_view& rest, std::size_t count,
                                const std::string& name) {
  if (rest.size() / sizeof(std::uint32_t) < count) throw damaged(name, "it is cut short");
  if (count == 0) return {};
  std::vector<std::uint32_t> numbers(count);
  std::memcpy(numbers.data(), rest.data(), count * sizeof(std::uint32_t));
  rest.remove_prefix(count * sizeof(std::uint32_t));
  return numbers;
}

}  // namespace

DependenceGraph DependenceGraph::of_program(const std::filesystem::path& variant) {
  const ElfFile file(variant);
  const std::optional<std::string_view> section = file.section(abi::kDependenceSection);
  if (!section) {
    throw user_error(fmt::format("{} holds no table of dependences", variant.string()));
  }
  return parse(*section, variant.string());
}

DependenceGraph DependenceGraph::parse(std::string_view section, const std::string& name) {
  abi::DependenceHeader header;
  if (section.size() < sizeof header) throw damaged(name, "it is cut short");
  std::memcpy(&header, section.data(), sizeof header);
  section.remove_prefix(sizeof header);
  if (header.magic != abi::kDependenceMagic || header.version != abi::kDependenceVersion) {
    throw damaged(name, "it is none of this version");
  }
  DependenceGraph graph;
  graph.instruction_count_ = header.instruction_count;
  graph.first_edge_ = take(section, std::size_t{header.node_count} + 1, name);
  graph.edges_ = take(section, header.edge_count, name);
  const auto& first = graph.first_edge_;
  if (header.instruction_count >= header.node_count ||
      !std::is_sorted(first.begin(), first.end()) || first.back() > graph.edges_.size() ||
      std::any_of(graph.edges_.begin(), graph.edges_.end(),
                  [&](std::uint32_t node) { return node >= header.node_count; })) {
    throw damaged(name, "its numbers do not fit each other");
  }
  return graph;
}

void DependenceGraph::Closure::add(std::uint32_t instruction) {
  if (contains_[instruction]) return;
  std::vector<std::uint32_t> open{instruction};
  contains_[instruction] = true;
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    for (std::uint32_t i = graph_->first_edge_[node]; i < graph_->first_edge_[node + 1]; ++i) {
      const std::uint32_t on = graph_->edges_[i];
      if (contains_[on]) continue;
      contains_[on] = true;
      open.push_back(on);
    }
  }
}

std::uint32_t DependenceGraph::Closure::size() const {
  return static_cast<std::uint32_t>(
      std::count(contains_.begin() + 1, contains_.begin() + 1 + graph_->instruction_count_, true));
}

}  // namespace heddle::ir
