// SPDX-License-Identifier: Apache-2.0
//
// Names for addresses of static data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace heddle::ir {

class SymbolTable {
 public:
  struct Place {
    std::string symbol;    // demangled
    std::uint64_t offset;  // from the symbol's start
    std::uint64_t size;    // of the whole symbol
  };

  /// Throws heddle::Error if the file is no ELF file; a file without symbols gives an empty table.
  static SymbolTable of_file(const std::filesystem::path& file);

  /// `address` as in the file, that is relative to the load address of a position-independent one.
  /// Nothing if no symbol covers it.
  std::optional<Place> find(std::uint64_t address) const;

 private:
  struct Entry {
    std::uint64_t address;
    std::uint64_t size;
    std::string name;
  };
  std::vector<Entry> entries_;  // sorted by address, one for each address
};

/// The name as the source has it, or the symbol itself if it is not a C++ name.
std::string demangle(const std::string& symbol);

}  // namespace heddle::ir
