// SPDX-License-Identifier: Apache-2.0
//
// Which source a machine instruction belongs to, from a file's debug information.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.h"

struct Dwfl;
struct Dwfl_Module;

namespace heddle::ir {

struct DwflCloser {
  void operator()(Dwfl* dwfl) const;
};
using DwflHandle = std::unique_ptr<Dwfl, DwflCloser>;

/// The functions an instruction is in, inlined ones first; without debug information the symbol
/// alone, and nothing where there is not even that. `address` as the module was reported.
std::vector<trace::Frame> frames_at(Dwfl_Module* module, std::uint64_t address);

/// One ELF file, by addresses as in the file.
class CodePlaces {
 public:
  /// A file that cannot be read has no places.
  explicit CodePlaces(const std::filesystem::path& file);

  std::vector<trace::Frame> frames(std::uint64_t address) const;

  /// A name for the address that other builds can look up: "worker+0x1c", or "+0x11c8" where no
  /// symbol of a unique name covers it.
  std::string key(std::uint64_t address) const;
  std::optional<std::uint64_t> address(std::string_view key) const;

 private:
  DwflHandle dwfl_;
  Dwfl_Module* module_ = nullptr;
};

}  // namespace heddle::ir
