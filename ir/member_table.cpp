// SPDX-License-Identifier: Apache-2.0
#include "ir/member_table.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

namespace heddle::ir {
namespace {

constexpr unsigned kMaxDepth = 4;  // of members within members that get a path

std::string name_of(Dwarf_Die* die) {
  const char* const name = dwarf_diename(die);
  return name == nullptr ? std::string() : std::string(name);
}

/// The type behind typedefs and qualifiers.
std::optional<Dwarf_Die> type_of(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  Dwarf_Die type;
  if (dwarf_attr_integrate(die, DW_AT_type, &attribute) == nullptr ||
      dwarf_formref_die(&attribute, &type) == nullptr) {
    return std::nullopt;
  }
  Dwarf_Die peeled;
  if (dwarf_peel_type(&type, &peeled) != 0) return type;
  return peeled;
}

std::uint64_t size_of(Dwarf_Die* type) {
  Dwarf_Word size = 0;
  return dwarf_aggregate_size(type, &size) == 0 ? size : 0;
}

bool is_record(Dwarf_Die* die) {
  const int tag = dwarf_tag(die);
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

std::uint64_t member_offset(Dwarf_Die* member) {
  Dwarf_Attribute attribute;
  Dwarf_Word offset = 0;
  if (dwarf_attr(member, DW_AT_data_member_location, &attribute) != nullptr) {
    dwarf_formudata(&attribute, &offset);
  }
  return offset;
}

template <typename Visit>
void for_each_child(Dwarf_Die* parent, Visit visit) {
  Dwarf_Die child;
  if (dwarf_child(parent, &child) != 0) return;
  do visit(&child);
  while (dwarf_siblingof(&child, &child) == 0);
}

}  // namespace

class MemberTable::Reader {
 public:
  explicit Reader(MemberTable& table) : table_(table) {}

  void read(Dwarf* dwarf) {
    Dwarf_CU* unit = nullptr;
    Dwarf_Die die;
    while (dwarf_get_units(dwarf, unit, &unit, nullptr, nullptr, &die, nullptr) == 0) walk(&die);
  }

 private:
  void walk(Dwarf_Die* die) {
    if (is_record(die)) {
      for_each_child(die, [&](Dwarf_Die* child) {
        if (dwarf_tag(child) != DW_TAG_member) return;
        auto type = type_of(child);
        table_.members_[name_of(child)].emplace(member_offset(child), type ? size_of(&*type) : 0);
      });
    }
    if (dwarf_tag(die) == DW_TAG_variable && dwarf_hasattr(die, DW_AT_location) != 0) {
      if (auto type = type_of(die)) {
        std::vector<Field>& fields = table_.globals_[name_of(die)];
        if (fields.empty()) flatten(&*type, 0, "", 0, fields);
      }
    }
    for_each_child(die, [&](Dwarf_Die* child) { walk(child); });
  }

  void flatten(Dwarf_Die* type, std::uint64_t base, const std::string& path, unsigned depth,
               std::vector<Field>& fields) {
    if (!is_record(type) || depth == kMaxDepth) return;
    for_each_child(type, [&](Dwarf_Die* child) {
      if (dwarf_tag(child) != DW_TAG_member) return;
      auto of_member = type_of(child);
      const std::string name = name_of(child);
      const std::string full = name.empty() ? path : path + "." + name;
      const std::uint64_t offset = base + member_offset(child);
      if (!of_member) return;
      if (!full.empty()) fields.push_back({offset, size_of(&*of_member), full});
      flatten(&*of_member, offset, full, depth + 1, fields);
    });
  }

  MemberTable& table_;
};

MemberTable MemberTable::of_file(const std::filesystem::path& file) {
  MemberTable table;
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return table;
  if (Dwarf* const dwarf = dwarf_begin(descriptor, DWARF_C_READ)) {
    Reader(table).read(dwarf);
    dwarf_end(dwarf);
  }
  close(descriptor);
  return table;
}

bool MemberTable::has(const std::string& member, std::uint64_t offset) const {
  const auto found = members_.find(member);
  if (found == members_.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [&](const auto& place) {
    return offset == place.first || (offset > place.first && offset < place.first + place.second);
  });
}

std::string MemberTable::member_of_global(const std::string& global, std::uint64_t offset) const {
  const auto found = globals_.find(global);
  if (found == globals_.end()) return {};
  const Field* best = nullptr;  // the innermost
  for (const Field& field : found->second) {
    if (field.offset <= offset && offset < field.offset + field.size) best = &field;
  }
  return best == nullptr ? std::string() : best->path;
}

}  // namespace heddle::ir
