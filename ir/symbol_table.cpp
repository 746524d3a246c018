// SPDX-License-Identifier: Apache-2.0
#include "ir/symbol_table.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "ir/elf_file.h"

namespace heddle::ir {

std::string demangle(const std::string& symbol) {
  // The demangler takes encoded types too: a variable of C that is called n would be "__int128".
  if (!symbol.starts_with("_Z")) return symbol;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      ::abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? name.get() : symbol;
}

SymbolTable SymbolTable::of_file(const std::filesystem::path& file) {
  const ElfFile elf(file);
  SymbolTable table;
  for (const ElfFile::Symbol& symbol : elf.data_symbols()) {
    if (symbol.size == 0) continue;
    table.entries_.push_back({symbol.address, symbol.size, std::string(symbol.name)});
  }
  // Of several names for one address the longest range wins, then the alphabet: any rule will do
  // that does not depend on the order in the file.
  std::ranges::sort(table.entries_, [](const Entry& a, const Entry& b) {
    if (a.address != b.address) return a.address < b.address;
    if (a.size != b.size) return a.size > b.size;
    return a.name < b.name;
  });
  const auto duplicates = std::ranges::unique(
      table.entries_, [](const Entry& a, const Entry& b) { return a.address == b.address; });
  table.entries_.erase(duplicates.begin(), duplicates.end());
  for (Entry& entry : table.entries_) entry.name = demangle(entry.name);
  return table;
}

std::optional<SymbolTable::Place> SymbolTable::find(std::uint64_t address) const {
  auto after = std::ranges::upper_bound(entries_, address, {}, &Entry::address);
  if (after == entries_.begin()) return std::nullopt;
  const Entry& entry = *std::prev(after);
  if (address - entry.address >= entry.size) return std::nullopt;
  return Place{entry.name, address - entry.address, entry.size};
}

}  // namespace heddle::ir
