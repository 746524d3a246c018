// SPDX-License-Identifier: Apache-2.0
#include "ir/pc_map.h"

#include <elfutils/libdw.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "ir/elf_file.h"

namespace heddle::ir {
namespace {

/// libdw's view of a file that ElfFile has accepted.
class DwarfFile {
 public:
  explicit DwarfFile(const std::filesystem::path& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)),
        dwarf_(dwarf_begin(descriptor_, DWARF_C_READ)) {}
  ~DwarfFile() {
    dwarf_end(dwarf_);
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  DwarfFile(const DwarfFile&) = delete;
  DwarfFile& operator=(const DwarfFile&) = delete;

  Dwarf* get() const { return dwarf_; }

 private:
  int descriptor_;
  Dwarf* dwarf_;
};

}  // namespace

PcMap PcMap::of_program(const std::filesystem::path& variant) {
  const ElfFile checked(variant);
  const DwarfFile file(variant);
  PcMap map;
  std::map<std::uint64_t, std::uint32_t> rows;
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die;
  while (file.get() != nullptr &&
         dwarf_get_units(file.get(), unit, &unit, nullptr, nullptr, &die, nullptr) == 0) {
    Dwarf_Lines* lines = nullptr;
    std::size_t count = 0;
    if (dwarf_getsrclines(&die, &lines, &count) != 0) continue;
    for (std::size_t i = 0; i < count; ++i) {
      Dwarf_Line* line = dwarf_onesrcline(lines, i);
      Dwarf_Addr address = 0;
      unsigned discriminator = 0;
      bool is_end = false;
      if (dwarf_lineaddr(line, &address) != 0) continue;
      dwarf_linediscriminator(line, &discriminator);
      dwarf_lineendsequence(line, &is_end);
      // Of several rows for one address the last one counts; but a sequence may begin where
      // another ends.
      std::uint32_t& instruction = rows[address];
      if (!is_end) instruction = discriminator;
    }
  }
  if (rows.empty()) {
    throw user_error(
        fmt::format("{} has no line table; rebuild the program with heddle-cc or heddle-c++ and do "
                    "not strip it",
                    variant.string()));
  }
  for (const auto& [address, instruction] : rows) {
    if (!map.rows_.empty() && map.rows_.back().instruction != 0) {
      const Row& before = map.rows_.back();
      map.by_instruction_.push_back({before.instruction, {before.address, address}});
    }
    map.rows_.push_back({address, instruction});
  }
  std::ranges::sort(map.by_instruction_);
  return map;
}

std::optional<std::uint32_t> PcMap::instruction_at(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(rows_, address, {}, &Row::address);
  if (after == rows_.begin() || std::prev(after)->instruction == 0) return std::nullopt;
  return std::prev(after)->instruction;
}

std::optional<std::uint32_t> PcMap::instruction_before(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(rows_, address, {}, &Row::address);
  const auto before = std::find_if(std::reverse_iterator(after), rows_.rend(),
                                   [](const Row& row) { return row.instruction != 0; });
  return before != rows_.rend() ? std::optional(before->instruction) : std::nullopt;
}

std::vector<PcMap::Range> PcMap::ranges_of(std::uint32_t instruction) const {
  std::vector<Range> ranges;
  for (auto entry = std::ranges::lower_bound(by_instruction_, std::pair(instruction, Range{0, 0}));
       entry != by_instruction_.end() && entry->first == instruction; ++entry) {
    if (!ranges.empty() && ranges.back().end == entry->second.begin) {
      ranges.back().end = entry->second.end;
    } else {
      ranges.push_back(entry->second);
    }
  }
  return ranges;
}

}  // namespace heddle::ir
