// SPDX-License-Identifier: Apache-2.0
//
// Which instructions each instruction may depend on, as the pass writes it into the variant that
// asks for it: a section that holds one DependenceHeader, then `node_count` + 1 numbers saying
// where among the edges a node's begin, then `edge_count` numbers of nodes depended on.
//
// Nodes 1 to `instruction_count` are the program's instructions, numbered as in the site table
// (abi/site_record.h); those behind stand for what instructions have in common: that a block is
// reached, what a function is given, a piece of memory no other thread sees. Dependences through
// memory that is hooked are not in it: a trace tells them.
#pragma once

#include <cstdint>

namespace heddle::abi {

inline constexpr char kDependenceSection[] = "heddle_depends";
inline constexpr std::uint32_t kDependenceMagic = 0x44444548;  // "HEDD"
inline constexpr std::uint32_t kDependenceVersion = 1;

struct DependenceHeader {
  std::uint32_t magic;
  std::uint32_t version;  // kDependenceVersion
  std::uint32_t instruction_count;
  std::uint32_t node_count;  // with node 0, which nothing is
  std::uint32_t edge_count;
};

}  // namespace heddle::abi
