// SPDX-License-Identifier: Apache-2.0
//
// The sites of an instrumented program, read from the section the pass wrote (abi/site_record.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "abi/abi.h"
#include "abi/site_record.h"
#include "trace/trace.h"

namespace heddle::ir {

struct SiteInfo {
  abi::SiteKind kind;
  std::uint32_t bytes;  // 0: not fixed
  std::string key;
  std::string callee;  // for calls; empty if called through a pointer
  std::vector<trace::Frame> frames;
};

class SiteTable {
 public:
  /// Throws heddle::Error if the program has no table or a damaged one.
  static SiteTable of_program(const std::filesystem::path& variant);

  static bool is_in(const std::filesystem::path& program);

  /// `section` may hold anything; `name` is what error messages call it.
  static SiteTable parse(std::string_view section, const std::string& name);

  /// Null for sites that no instruction has (unknown, thread start ...).
  const SiteInfo* find(abi::SiteId site) const;
  std::optional<abi::SiteId> by_key(std::string_view key) const;

  /// Site kFirstSite + i at index i.
  const std::vector<SiteInfo>& all() const { return sites_; }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  std::vector<SiteInfo> sites_;
  std::unordered_map<std::string, abi::SiteId, Hash, std::equal_to<>> by_key_;
};

}  // namespace heddle::ir
