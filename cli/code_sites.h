// SPDX-License-Identifier: Apache-2.0
//
// Sites as people and scripts read them, and which of them are at an address of a program.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "ir/pc_sites.h"
#include "ir/site_table.h"

namespace heddle::cli {

nlohmann::json frames_json(const std::vector<trace::Frame>& frames);
nlohmann::json site_json(abi::SiteId id, const ir::SiteInfo& site);

/// "visits.c:18:9", or "?" for what the compiler made up.
std::string place_of(const trace::Frame& frame);
/// " < visitor visits.c:24:5 < main ...": what the innermost of the frames is inlined into.
std::string inline_chain(const std::vector<trace::Frame>& frames);

/// What to say of a program, or a library, that there is no saved link of.
Error no_sites(const std::string& name);

/// Accepts what debuggers print. Throws heddle::Error if it is no hexadecimal number.
std::uint64_t parse_address(const std::string& text);

/// A file that has a site table of its own.
class CodeSites {
 public:
  explicit CodeSites(const std::filesystem::path& file);
  CodeSites(const CodeSites&) = delete;
  CodeSites& operator=(const CodeSites&) = delete;

  /// Adds `instruction` (null: of no single one) and, if there is one, what it belongs to, its
  /// sites and all machine code that was made from it. `in_call`: as in ir::StackFrame.
  void add_json(std::uint64_t file_address, bool in_call, nlohmann::json& object) const;
  /// "instruction 71, block 3 of worker"; empty for what is of no single instruction.
  std::string instruction_words(std::uint64_t file_address) const;
  /// "site 12  worker+3.load.kfqz  shared", one for each site there.
  std::vector<std::string> site_words(std::uint64_t file_address) const;
  std::vector<abi::SiteId> sites_at(std::uint64_t file_address, bool in_call = false) const {
    return in_call ? code_.sites_of_call(file_address) : code_.sites_at(file_address);
  }
  const ir::SiteTable& table() const { return sites_; }

 private:
  ir::SiteTable sites_;
  ir::PcSites code_;
};

}  // namespace heddle::cli
