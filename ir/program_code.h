// SPDX-License-Identifier: Apache-2.0
//
// What each instruction of a program computes from what, and what decides whether it is executed,
// read from the section that the pass wrote (abi/code_record.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "abi/code_record.h"

namespace heddle::ir {

class ProgramCode {
 public:
  /// Throws heddle::Error if the program has no such table or a damaged one.
  static ProgramCode of_program(const std::filesystem::path& variant);
  /// `section` may hold anything; `name` is what error messages call it.
  static ProgramCode parse(std::string_view section, const std::string& name);

  /// Instructions are numbered from 1 to this, blocks from 0.
  std::uint32_t instruction_count() const {
    return static_cast<std::uint32_t>(instructions_.size());
  }
  const abi::InstructionCode& at(std::uint32_t instruction) const {
    return instructions_[instruction - 1];
  }
  std::span<const std::uint32_t> operands(std::uint32_t instruction) const {
    return words(at(instruction).first_word, at(instruction).word_count);
  }
  std::string_view file(std::uint32_t instruction) const {
    return strings_.data() + at(instruction).file;
  }

  std::uint32_t block_of(std::uint32_t instruction) const { return block_of_[instruction - 1]; }
  std::uint32_t function_of(std::uint32_t block) const { return function_of_[block]; }
  std::uint32_t first(std::uint32_t block) const { return blocks_[block].first_instruction; }
  /// One behind its last instruction.
  std::uint32_t end(std::uint32_t block) const {
    return block + 1 < blocks_.size() ? first(block + 1) : instruction_count() + 1;
  }
  /// The instructions that decide whether it is reached.
  std::span<const std::uint32_t> decisions(std::uint32_t block) const {
    return words(blocks_[block].first_word, blocks_[block].word_count);
  }

 private:
  std::span<const std::uint32_t> words(std::uint32_t first, std::uint32_t count) const {
    return std::span(words_).subspan(first, count);
  }
  bool is_sound(std::uint32_t function_count) const;
  bool is_sound(const abi::InstructionCode& code, std::uint32_t function_count) const;

  std::vector<abi::BlockCode> blocks_;
  std::vector<abi::InstructionCode> instructions_;
  std::vector<std::uint32_t> words_;
  std::string strings_;
  std::vector<std::uint32_t> block_of_;
  std::vector<std::uint32_t> function_of_;
};

}  // namespace heddle::ir
