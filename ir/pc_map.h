// SPDX-License-Identifier: Apache-2.0
//
// From machine code back to the instructions it was made from, and the other way, by the line table
// of a variant: the pass left each instruction's number there as a discriminator
// (pass/discriminators.h). Addresses are those of the file; whoever has one from a process or a
// core takes off where the program was loaded.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

namespace heddle::ir {

class PcMap {
 public:
  /// Throws heddle::Error if the file is no ELF file or has no line table.
  static PcMap of_program(const std::filesystem::path& variant);

  /// The number of the instruction (SiteTable::instruction) that the machine instruction at
  /// `address` was made from. Nothing outside instrumented code, and where the optimiser made one
  /// of several.
  std::optional<std::uint32_t> instruction_at(std::uint64_t address) const;

  /// That of the last machine code before `address` that has one.
  std::optional<std::uint32_t> instruction_before(std::uint64_t address) const;

  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
    auto operator<=>(const Range&) const = default;
  };
  /// Where the machine code of an instruction is; several ranges if it was copied or split.
  std::vector<Range> ranges_of(std::uint32_t instruction) const;

 private:
  struct Row {
    std::uint64_t address;
    std::uint32_t instruction;  // 0: none
  };
  std::vector<Row> rows_;  // sorted; each holds up to the next
  std::vector<std::pair<std::uint32_t, Range>> by_instruction_;  // sorted
};

}  // namespace heddle::ir
