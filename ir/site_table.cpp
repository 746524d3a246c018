// SPDX-License-Identifier: Apache-2.0
#include "ir/site_table.h"

#include <fmt/format.h>

#include <cstring>

#include "base/error.h"
#include "ir/elf_file.h"

namespace heddle::ir {
namespace {

// Frames are shared between sites, so a damaged table could ask for more of them than it has bytes.
constexpr std::uint32_t kMaxInlineDepth = 1024;

class Parser {
 public:
  Parser(std::string_view section, const std::string& name) : rest_(section), name_(name) {
    std::memcpy(&header_, take(sizeof header_, 1).data(), sizeof header_);
    if (header_.magic != abi::kSiteMagic) throw damaged("it does not begin with its magic number");
    if (header_.version != abi::kVersion) {
      throw user_error(
          fmt::format("the site table of {} has version {}, this Heddle reads version {}; rebuild "
                      "the program with this Heddle's compilers",
                      name, header_.version, abi::kVersion));
    }
    sites_ = take(sizeof(abi::SiteRecord), header_.site_count);
    frames_ = take(sizeof(abi::FrameRecord), header_.frame_count);
    strings_ = take(1, header_.string_bytes);
    if (strings_.empty() || strings_.back() != '\0') throw damaged("its strings do not end");
  }

  std::uint32_t site_count() const { return header_.site_count; }

  SiteInfo site(std::uint32_t index) const {
    const auto record = record_at<abi::SiteRecord>(sites_, index);
    if (record.kind < static_cast<std::uint16_t>(abi::SiteKind::Load) ||
        record.kind > static_cast<std::uint16_t>(abi::SiteKind::Call)) {
      throw damaged(fmt::format("site {} has the unknown kind {}", index, record.kind));
    }
    if (record.frames == 0 || record.frames > kMaxInlineDepth ||
        record.first_frame > header_.frame_count ||
        record.frames > header_.frame_count - record.first_frame) {
      throw damaged(fmt::format("site {} has frames outside the table", index));
    }
    SiteInfo info{static_cast<abi::SiteKind>(record.kind),
                  record.access_bytes,
                  string(record.key),
                  string(record.callee),
                  {}};
    info.frames.reserve(record.frames);
    for (std::uint32_t i = 0; i < record.frames; ++i) {
      const auto frame = record_at<abi::FrameRecord>(frames_, record.first_frame + i);
      info.frames.push_back({string(frame.function), string(frame.file), frame.line, frame.column});
    }
    return info;
  }

  Error damaged(const std::string& why) const {
    return user_error(fmt::format(
        "the site table of {} is damaged ({}); rebuild the program with heddle-cc or heddle-c++",
        name_, why));
  }

 private:
  std::string_view take(std::size_t size, std::size_t count) {
    if (rest_.size() / size < count) throw damaged("it is cut short");
    const std::string_view taken = rest_.substr(0, size * count);
    rest_.remove_prefix(taken.size());
    return taken;
  }

  // Copies: a section need not be aligned in memory.
  template <typename Record>
  static Record record_at(std::string_view table, std::uint32_t index) {
    Record record;
    std::memcpy(&record, table.data() + std::size_t{index} * sizeof record, sizeof record);
    return record;
  }

  std::string string(std::uint32_t offset) const {
    if (offset >= strings_.size()) throw damaged("a string lies outside the table");
    return strings_.data() + offset;  // the constructor saw to the terminating zero
  }

  std::string_view rest_;
  const std::string& name_;
  abi::SiteTableHeader header_{};
  std::string_view sites_;
  std::string_view frames_;
  std::string_view strings_;
};

}  // namespace

SiteTable SiteTable::of_program(const std::filesystem::path& variant) {
  const ElfFile file(variant);
  const std::optional<std::string_view> section = file.section(abi::kSiteSection);
  if (!section) {
    throw user_error(fmt::format(
        "{} holds no instrumented code; build at least one of its source files with heddle-cc or "
        "heddle-c++",
        variant.string()));
  }
  return parse(*section, variant.string());
}

bool SiteTable::is_in(const std::filesystem::path& program) {
  return ElfFile(program).section(abi::kSiteSection).has_value();
}

SiteTable SiteTable::parse(std::string_view section, const std::string& name) {
  const Parser parser(section, name);
  SiteTable table;
  table.sites_.reserve(parser.site_count());
  for (std::uint32_t i = 0; i < parser.site_count(); ++i) {
    table.sites_.push_back(parser.site(i));
    const bool is_new =
        table.by_key_.try_emplace(table.sites_.back().key, abi::kFirstSite + i).second;
    if (!is_new) throw parser.damaged(fmt::format("two sites are called {}", table.sites_[i].key));
  }
  return table;
}

const SiteInfo* SiteTable::find(abi::SiteId site) const {
  if (site < abi::kFirstSite || site - abi::kFirstSite >= sites_.size()) return nullptr;
  return &sites_[site - abi::kFirstSite];
}

std::optional<abi::SiteId> SiteTable::by_key(std::string_view key) const {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return std::nullopt;
  return found->second;
}

}  // namespace heddle::ir
