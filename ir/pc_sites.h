// SPDX-License-Identifier: Apache-2.0
//
// Which instruction a machine instruction of a variant was made from, and the sites it performs.
// Usually the line table says so (ir/pc_map.h). But a load that is an operand of other code, as in
// `add (%rdi), %eax`, has no machine code of its own, and the line table names what it is an
// operand of. If such a load is taken out of its user again, just before it, or if the optimiser
// has moved an access out of a loop, its machine code belongs to nobody in the line table.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "abi/abi.h"
#include "ir/elf_file.h"
#include "ir/machine_access.h"
#include "ir/pc_map.h"
#include "ir/site_table.h"

namespace heddle::ir {

class PcSites {
 public:
  /// `table` is the file's, and outlives this. Throws as PcMap::of_program.
  PcSites(const SiteTable& table, const std::filesystem::path& variant);

  const PcMap& map() const { return map_; }
  /// Of the machine instruction that begins at `address`; nothing where it is of no single one.
  std::optional<std::uint32_t> instruction_at(std::uint64_t address) const;
  /// Of the machine instruction that begins at `address`, in the order of their ids; none where
  /// that is of no single instruction.
  std::vector<abi::SiteId> sites_at(std::uint64_t address) const;
  /// Of the call that `address`, a byte before where it returns to, is part of.
  std::vector<abi::SiteId> sites_of_call(std::uint64_t address) const;

 private:
  MachineOperand operand_at(std::uint64_t address) const;
  /// The last load before `instruction` in its block that no machine code is said to be of.
  std::optional<std::uint32_t> load_for(std::uint32_t instruction) const;
  /// The only access of the function there that no machine code is said to be of.
  std::optional<std::uint32_t> moved_to(std::uint64_t address) const;
  /// The accesses among these instructions that no machine code is said to be of.
  std::vector<std::uint32_t> without_code(std::uint32_t first, std::uint32_t end) const;

  const SiteTable& table_;
  std::unique_ptr<ElfFile> file_;
  PcMap map_;
};

}  // namespace heddle::ir
