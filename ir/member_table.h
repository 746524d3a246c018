// SPDX-License-Identifier: Apache-2.0
//
// Where members lie in the types of a program, from its DWARF: what turns "heap t0 #1+40" into the
// member the source means. Programs without DWARF have an empty table.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace heddle::ir {

class MemberTable {
 public:
  static MemberTable of_file(const std::filesystem::path& file);

  /// Whether some type has a member of this name there, or an array of it that covers the place.
  bool has(const std::string& member, std::uint64_t offset) const;
  /// ".limit", ".queue.head": the member of the global at `offset`; empty when it has none there.
  std::string member_of_global(const std::string& global, std::uint64_t offset) const;

 private:
  struct Field {
    std::uint64_t offset;
    std::uint64_t size;
    std::string path;
  };
  class Reader;
  std::map<std::string, std::set<std::pair<std::uint64_t, std::uint64_t>>> members_;
  std::map<std::string, std::vector<Field>> globals_;
};

}  // namespace heddle::ir
