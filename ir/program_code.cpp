// SPDX-License-Identifier: Apache-2.0
#include "ir/program_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "ir/elf_file.h"

namespace heddle::ir {
namespace {

Error damaged(const std::string& name, std::string_view why) {
  return user_error(
      fmt::format("the table of the code of {} is damaged ({}); rebuild the program with heddle-cc "
                  "or heddle-c++",
                  name, why));
}

template <typename Record>
std::vector<Record> take(std::string_view& rest, std::size_t count, const std::string& name) {
  if (rest.size() / sizeof(Record) < count) throw damaged(name, "it is cut short");
  std::vector<Record> records(count);
  rest.copy(reinterpret_cast<char*>(records.data()), count * sizeof(Record));
  rest.remove_prefix(count * sizeof(Record));
  return records;
}

/// For each of `count` things, the range of `firsts` it lies in; empty: the ranges do not follow
/// each other from `from` on.
std::vector<std::uint32_t> ranges(const std::vector<std::uint32_t>& firsts, std::uint32_t from,
                                  std::size_t count) {
  std::vector<std::uint32_t> result;
  for (std::uint32_t i = 0; i < firsts.size(); ++i) {
    const std::size_t end = i + 1 < firsts.size() ? firsts[i + 1] : from + count;
    const bool follows = firsts[i] == from + result.size() && end > firsts[i];
    if (!follows || end > from + count) return {};
    result.resize(end - from, i);
  }
  return result;
}

}  // namespace

ProgramCode ProgramCode::of_program(const std::filesystem::path& variant) {
  const ElfFile file(variant);
  const std::optional<std::string_view> section = file.section(abi::kCodeSection);
  if (!section) throw user_error(fmt::format("{} holds no table of its code", variant.string()));
  return parse(*section, variant.string());
}

ProgramCode ProgramCode::parse(std::string_view section, const std::string& name) {
  abi::CodeHeader header;
  if (section.size() < sizeof header) throw damaged(name, "it is cut short");
  std::memcpy(&header, section.data(), sizeof header);
  section.remove_prefix(sizeof header);
  if (header.magic != abi::kCodeMagic || header.version != abi::kCodeVersion) {
    throw damaged(name, "it is none of this version");
  }
  ProgramCode code;
  std::vector<std::uint32_t> firsts;
  for (const auto& function : take<abi::FunctionCode>(section, header.function_count, name)) {
    firsts.push_back(function.first_block);
  }
  code.blocks_ = take<abi::BlockCode>(section, header.block_count, name);
  code.instructions_ = take<abi::InstructionCode>(section, header.instruction_count, name);
  code.words_ = take<std::uint32_t>(section, header.word_count, name);
  if (section.size() < header.string_bytes) throw damaged(name, "it is cut short");
  code.strings_ = section.substr(0, header.string_bytes);

  code.function_of_ = ranges(firsts, 0, header.block_count);
  firsts.clear();
  for (const abi::BlockCode& block : code.blocks_) firsts.push_back(block.first_instruction);
  code.block_of_ = ranges(firsts, 1, header.instruction_count);
  if (code.function_of_.size() != header.block_count ||
      code.block_of_.size() != header.instruction_count || !code.is_sound(header.function_count)) {
    throw damaged(name, "its numbers do not fit each other");
  }
  return code;
}

bool ProgramCode::is_sound(std::uint32_t function_count) const {
  if (strings_.empty() || strings_.back() != '\0') return false;
  for (const abi::BlockCode& block : blocks_) {
    if (std::uint64_t{block.first_word} + block.word_count > words_.size()) return false;
    for (const std::uint32_t decision : words(block.first_word, block.word_count)) {
      if (decision == 0 || decision > instruction_count()) return false;
    }
  }
  return std::all_of(instructions_.begin(), instructions_.end(),
                     [&](const auto& one) { return is_sound(one, function_count); });
}

bool ProgramCode::is_sound(const abi::InstructionCode& code, std::uint32_t function_count) const {
  if (code.kind > abi::CodeKind::Return || code.file >= strings_.size() ||
      code.callee > function_count ||
      std::uint64_t{code.first_word} + code.word_count > words_.size()) {
    return false;
  }
  const auto is_operand = [this](std::uint32_t word) {
    return (word & abi::kCodeArgument) != 0 || word <= instruction_count();
  };
  const std::span<const std::uint32_t> operands = words(code.first_word, code.word_count);
  if (code.kind != abi::CodeKind::Phi) {
    return std::all_of(operands.begin(), operands.end(), is_operand);
  }
  if (operands.size() % 2 != 0) return false;
  for (std::size_t i = 0; i < operands.size(); i += 2) {
    if (operands[i] >= blocks_.size() || !is_operand(operands[i + 1])) return false;
  }
  return true;
}

}  // namespace heddle::ir
