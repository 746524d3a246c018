// SPDX-License-Identifier: Apache-2.0
//
// What Heddle reads from programs: a thin owner round libelf. 64-bit little-endian ELF only; any
// damage is a user error that names the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct Elf;

namespace heddle::ir {

class ElfFile {
 public:
  explicit ElfFile(const std::filesystem::path& path);
  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  struct Symbol {
    std::string_view name;  // as in the file; lives as long as the ElfFile
    std::uint64_t address;
    std::uint64_t size;
  };

  /// The description of the first note of this owner and type, also in programs without section
  /// headers.
  std::optional<std::string_view> note(std::string_view owner, std::uint32_t type) const;

  /// The contents of a section; valid as long as the ElfFile.
  std::optional<std::string_view> section(std::string_view name) const;

  /// Variables defined here, thread-local ones left out (they have no address). Falls back to the
  /// dynamic symbols when the file is stripped.
  std::vector<Symbol> data_symbols() const;

  /// Whether the file itself contains a function or variable of this name, and whether it mentions
  /// one that others must have.
  bool defines(std::string_view symbol) const { return mentions(symbol, true); }
  bool needs(std::string_view symbol) const { return mentions(symbol, false); }

  /// The libraries it names, as it names them.
  std::vector<std::string> needed_libraries() const;
  /// Where it wants them to be looked for, entries separated by colons; mostly empty.
  std::string run_path() const;

  /// What is in the file from `address` on, as far as it is in one piece; valid as long as the
  /// ElfFile. Empty for addresses that nothing is loaded to.
  std::string_view bytes_at(std::uint64_t address) const;

  /// Where the byte at `offset` of the file is when it is loaded, before relocation.
  std::optional<std::uint64_t> address_of_offset(std::uint64_t offset) const;

  /// False for a program that is linked statically.
  bool has_interpreter() const;
  /// True for a shared library that is no program.
  bool is_library() const;

 private:
  bool mentions(std::string_view symbol, bool defined) const;
  std::vector<Symbol> symbols_of(std::uint32_t section_type) const;
  std::vector<std::string> dynamic_strings(std::int64_t tag) const;

  std::filesystem::path path_;
  int descriptor_ = -1;
  Elf* elf_ = nullptr;
};

}  // namespace heddle::ir
