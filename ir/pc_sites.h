// SPDX-License-Identifier: Apache-2.0
//
// The sites that a machine instruction of a variant performs. Usually those of the instruction it
// was made from (ir/pc_map.h); but a load that is an operand of other code, as in `add (%rdi),
// %eax`, has no machine code of its own, and the line table names what it is an operand of.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "abi/abi.h"
#include "ir/elf_file.h"
#include "ir/pc_map.h"
#include "ir/site_table.h"

namespace heddle::ir {

class PcSites {
 public:
  /// `table` is the file's, and outlives this. Throws as PcMap::of_program.
  PcSites(const SiteTable& table, const std::filesystem::path& variant);

  const PcMap& map() const { return map_; }
  /// Of the machine instruction that begins at `address`, in the order of their ids; none where
  /// that is of no single instruction.
  std::vector<abi::SiteId> sites_at(std::uint64_t address) const;
  /// Of the call that `address`, a byte before where it returns to, is part of.
  std::vector<abi::SiteId> sites_of_call(std::uint64_t address) const;

 private:
  std::vector<abi::SiteId> operands_of(std::uint32_t instruction) const;

  const SiteTable& table_;
  std::unique_ptr<ElfFile> file_;
  PcMap map_;
};

}  // namespace heddle::ir
