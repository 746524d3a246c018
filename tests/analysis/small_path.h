// SPDX-License-Identifier: Apache-2.0
//
// Programs and ways through them written down by hand, as the pass and the runtime do.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "abi/code_record.h"
#include "abi/path_record.h"

namespace heddle::analysis {

/// The n-th argument of a function as an operand.
constexpr std::uint32_t arg(std::uint32_t n) {
  return abi::kCodeArgument | n;
}

/// Each function gives back the number of what it adds: of functions and blocks from 0, of
/// instructions from 1.
class SmallCode {
 public:
  using Words = std::vector<std::uint32_t>;

  std::uint32_t function() {
    functions.push_back({static_cast<std::uint32_t>(blocks.size())});
    return static_cast<std::uint32_t>(functions.size() - 1);
  }
  /// `decisions`: the branches that decide whether it is reached, of whatever number they will be.
  std::uint32_t block(const Words& decisions = {}) {
    blocks.push_back({next(), add(decisions), static_cast<std::uint32_t>(decisions.size())});
    return static_cast<std::uint32_t>(blocks.size() - 1);
  }
  std::uint32_t value(const Words& operands = {}, std::uint16_t flags = 0) {
    return instruction(abi::CodeKind::Value, flags, operands);
  }
  std::uint32_t branch(const Words& operands) { return value(operands, abi::kBranches); }
  /// Pairs of the block come from and the operand.
  std::uint32_t phi(const Words& pairs) { return instruction(abi::CodeKind::Phi, 0, pairs); }
  std::uint32_t load(const Words& operands = {}, std::uint16_t flags = 0) {
    return access(abi::kReads | flags, operands);
  }
  std::uint32_t store(const Words& operands = {}, std::uint16_t flags = 0) {
    return access(abi::kWrites | flags, operands);
  }
  std::uint32_t copy() { return access(abi::kReads | abi::kWrites | abi::kCopies, {}); }
  /// Of a function of the program; `operands` are its arguments.
  std::uint32_t call(std::uint32_t function, Words operands = {}, std::uint16_t flags = 0) {
    operands.push_back(0);
    const std::uint32_t number = instruction(abi::CodeKind::Call, flags, operands);
    instructions.back().callee = function + 1;
    return number;
  }
  /// Of code outside.
  std::uint32_t call_outside(Words operands = {}, std::uint16_t flags = 0) {
    operands.push_back(0);
    return instruction(abi::CodeKind::Call, flags, operands);
  }
  std::uint32_t ret(const Words& operands = {}) {
    return instruction(abi::CodeKind::Return, 0, operands);
  }

  std::string bytes() const {
    const abi::CodeHeader header{abi::kCodeMagic,
                                 abi::kCodeVersion,
                                 count(functions),
                                 count(blocks),
                                 count(instructions),
                                 count(words),
                                 static_cast<std::uint32_t>(strings.size())};
    std::string all(reinterpret_cast<const char*>(&header), sizeof header);
    append(all, functions);
    append(all, blocks);
    append(all, instructions);
    append(all, words);
    return all + strings;
  }

  std::vector<abi::FunctionCode> functions;
  std::vector<abi::BlockCode> blocks;
  std::vector<abi::InstructionCode> instructions;
  Words words;
  std::string strings = std::string("\0small.c\0", 9);

 private:
  std::uint32_t next() const { return count(instructions) + 1; }
  std::uint32_t add(const Words& more) {
    const std::uint32_t first = count(words);
    words.insert(words.end(), more.begin(), more.end());
    return first;
  }
  std::uint32_t access(std::uint16_t flags, const Words& operands) {
    const std::uint32_t number = instruction(abi::CodeKind::Access, flags, operands);
    instructions.back().bytes = 8;
    return number;
  }
  std::uint32_t instruction(abi::CodeKind kind, std::uint16_t flags, const Words& operands) {
    abi::InstructionCode code{};
    code.kind = kind;
    code.flags = flags;
    code.first_word = add(operands);
    code.word_count = static_cast<std::uint32_t>(operands.size());
    code.file = 1;
    code.line = next();
    instructions.push_back(code);
    return count(instructions);
  }
  template <typename Record>
  static std::uint32_t count(const std::vector<Record>& records) {
    return static_cast<std::uint32_t>(records.size());
  }
  template <typename Record>
  static void append(std::string& to, const std::vector<Record>& records) {
    to.append(reinterpret_cast<const char*>(records.data()), records.size() * sizeof(Record));
  }
};

class SmallPath {
 public:
  SmallPath& block(std::uint32_t first_instruction) {
    return at(abi::PathItem::Block, first_instruction);
  }
  SmallPath& call(std::uint32_t instruction) { return at(abi::PathItem::Call, instruction); }
  SmallPath& access(std::uint32_t instruction, std::uint64_t address) {
    at(abi::PathItem::Access, instruction);
    put(addresses_.number_for(instruction, address));
    return *this;
  }
  SmallPath& range(std::uint32_t instruction, std::uint64_t address, std::uint64_t length) {
    at(abi::PathItem::Range, instruction);
    put(addresses_.number_for(instruction, address));
    put(length);
    return *this;
  }
  SmallPath& enter(std::uint64_t frame) { return at_frame(abi::PathItem::Enter, frame); }
  SmallPath& landed(std::uint64_t frame) { return at_frame(abi::PathItem::Landed, frame); }
  SmallPath& exit() { return item(abi::PathItem::Exit, 0); }
  SmallPath& thread(std::uint32_t index) {
    thread_ = index;
    return item(abi::PathItem::Other, std::uint64_t{index} << 1 | 1);
  }
  SmallPath& events(std::uint64_t count) { return item(abi::PathItem::Other, count << 1); }

  std::string bytes;

 private:
  SmallPath& at(abi::PathItem kind, std::uint32_t instruction) {
    item(kind, abi::zigzag(std::uint64_t{instruction} - instruction_));
    instruction_ = instruction;
    return *this;
  }
  SmallPath& at_frame(abi::PathItem kind, std::uint64_t frame) {
    return item(kind, frames_.number_for(thread_, frame));
  }
  SmallPath& item(abi::PathItem kind, std::uint64_t argument) {
    put(argument << 3 | static_cast<std::uint64_t>(kind));
    return *this;
  }
  void put(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) bytes.push_back(static_cast<char>(number | 0x80));
    bytes.push_back(static_cast<char>(number));
  }

  std::uint32_t instruction_ = 0;
  std::uint32_t thread_ = 0;
  abi::PathAddresses addresses_;
  abi::PathFrames frames_;
};

}  // namespace heddle::analysis
