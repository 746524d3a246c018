// SPDX-License-Identifier: Apache-2.0
#include "ir/site_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <limits>

#include "abi/names.h"
#include "base/error.h"
#include "ir/elf_file.h"

namespace heddle::ir {

/// Takes the section apart and checks all of it, so that reading it later needs no check.
class SiteTableParser {
 public:
  SiteTableParser(std::string_view section, const std::string& name) : rest_(section), name_(name) {
    abi::SiteTableHeader header;
    std::memcpy(&header, take(sizeof header, 1).data(), sizeof header);
    if (header.magic != abi::kSiteMagic) throw damaged("it does not begin with its magic number");
    if (header.version != abi::kSiteTableVersion) {
      throw user_error(
          fmt::format("the site table of {} has version {}, this Heddle reads version {}; rebuild "
                      "the program with this Heddle's compilers",
                      name, header.version, abi::kSiteTableVersion));
    }
    take_records(table_.functions_, header.function_count);
    take_records(table_.blocks_, header.block_count);
    take_records(table_.loops_, header.loop_count);
    take_records(table_.sites_, header.site_count);
    take_records(table_.frames_, header.frame_count);
    table_.strings_ = take(1, header.string_bytes);
    if (table_.strings_.empty() || table_.strings_.back() != '\0') {
      throw damaged("its strings do not end");
    }
    check_layout();
    for (const abi::FrameRecord& frame : table_.frames_) {
      check_string(frame.function);
      check_string(frame.file);
    }
    for (const abi::SiteRecord& site : table_.sites_) check_site(site);
    index();
  }

  SiteTable take_table() { return std::move(table_); }

 private:
  Error damaged(const std::string& why) const {
    return user_error(fmt::format(
        "the site table of {} is damaged ({}); rebuild the program with heddle-cc or heddle-c++",
        name_, why));
  }

  std::string_view take(std::size_t size, std::size_t count) {
    if (rest_.size() / size < count) throw damaged("it is cut short");
    const std::string_view taken = rest_.substr(0, size * count);
    rest_.remove_prefix(taken.size());
    return taken;
  }

  // Copies: a section need not be aligned in memory.
  template <typename Record>
  void take_records(std::vector<Record>& records, std::uint32_t count) {
    const std::string_view bytes = take(sizeof(Record), count);
    records.resize(count);
    std::copy_n(bytes.data(), bytes.size(), reinterpret_cast<char*>(records.data()));
  }

  void check_string(std::uint32_t offset) const {
    if (offset >= table_.strings_.size()) throw damaged("a string lies outside the table");
  }

  void check_frames(std::uint32_t first, std::uint32_t count) const {
    if (first > table_.frames_.size() || count > table_.frames_.size() - first) {
      throw damaged("frames lie outside the table");
    }
  }

  void check_layout() const {
    std::uint32_t next_block = 0;
    for (const abi::FunctionRecord& function : table_.functions_) {
      check_string(function.symbol);
      const bool in_order = &function == table_.functions_.data()
                                ? function.first_block == 0
                                : function.first_block > next_block;
      if (!in_order || function.first_block >= table_.blocks_.size()) {
        throw damaged("its functions are out of order");
      }
      next_block = function.first_block;
    }
    if (table_.functions_.empty() && !table_.blocks_.empty())
      throw damaged("a block has no function");
    std::uint32_t next_instruction = 1;
    for (const abi::BlockRecord& block : table_.blocks_) {
      if (block.first_instruction < next_instruction) throw damaged("its blocks are out of order");
      next_instruction = block.first_instruction;
      if (block.loop > table_.loops_.size()) throw damaged("a block is in no loop of the table");
    }
    for (std::size_t i = 0; i < table_.loops_.size(); ++i) {
      const abi::LoopRecord& loop = table_.loops_[i];
      if (loop.parent > i) throw damaged("its loops are out of order");
      if (loop.header >= table_.blocks_.size()) throw damaged("a loop has no header");
      check_frames(loop.first_frame, loop.frames);
    }
  }

  void check_site(const abi::SiteRecord& site) const {
    if (abi::name_of(static_cast<abi::SiteKind>(site.kind)) == nullptr) {
      throw damaged(fmt::format("a site has the unknown kind {}", site.kind));
    }
    if (abi::name_of(static_cast<abi::Sharing>(site.sharing)) == nullptr) {
      throw damaged(fmt::format("a site has the unknown sharing verdict {}", site.sharing));
    }
    if (site.frames == 0) throw damaged("a site has no frames");
    check_frames(site.first_frame, site.frames);
    check_string(site.place);
    check_string(site.callee);
    if (site.fingerprint >= abi::kFingerprints) throw damaged("a site has no fingerprint");
    if (table_.blocks_.empty() || site.instruction < table_.blocks_.front().first_instruction) {
      throw damaged("a site is in no block");
    }
  }

  void index() {
    const auto count = static_cast<std::uint32_t>(table_.sites_.size());
    table_.by_key_hash_.reserve(count);
    table_.by_instruction_.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::string key = table_.key_of(table_.sites_[i]);
      table_.by_key_hash_.emplace_back(std::hash<std::string_view>{}(key), i);
      table_.by_instruction_.emplace_back(table_.sites_[i].instruction, i);
    }
    std::ranges::sort(table_.by_key_hash_);
    std::ranges::sort(table_.by_instruction_);
    const auto twins =
        std::ranges::adjacent_find(table_.by_key_hash_, [this](const auto& a, const auto& b) {
          return a.first == b.first &&
                 table_.key_of(table_.sites_[a.second]) == table_.key_of(table_.sites_[b.second]);
        });
    if (twins != table_.by_key_hash_.end()) {
      throw damaged(
          fmt::format("two sites are called {}", table_.key_of(table_.sites_[twins->second])));
    }
  }

  std::string_view rest_;
  const std::string& name_;
  SiteTable table_;
};

namespace {

constexpr std::size_t kFingerprintLetters = 4;

std::string letters(std::uint32_t fingerprint) {
  std::string text(kFingerprintLetters, 'a');
  for (std::size_t i = kFingerprintLetters; i-- > 0; fingerprint /= 26) {
    text[i] = static_cast<char>('a' + fingerprint % 26);
  }
  return text;
}

/// A key taken apart. Names of functions may hold dots and plus signs, so it is read from its end.
struct KeyParts {
  std::string_view place;
  std::string_view function;  // the place without its line
  std::string_view home;      // and the "@main" behind it
  std::string_view kind;
  std::string_view fingerprint;  // may be missing
  std::uint32_t ordinal = 1;
};

std::string_view take_last(std::string_view& text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view last = text.substr(dot + 1);
  text = text.substr(0, dot);
  return last;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_kind_name(std::string_view text) {
#define HEDDLE_SITE_KIND(id, Name, spelling) \
  if (text == spelling) return true;
#include "abi/site_kinds.def"
  return false;
}

void split_place(KeyParts& parts) {
  const std::size_t at = parts.place.rfind('@');
  const std::string_view inner = parts.place.substr(0, at);
  parts.home = at == std::string_view::npos ? std::string_view() : parts.place.substr(at);
  parts.function = inner.substr(0, inner.rfind('+'));
}

std::optional<KeyParts> split(std::string_view key) {
  KeyParts parts;
  std::string_view last = take_last(key);
  if (is_number(last)) {
    const auto read = std::from_chars(last.data(), last.data() + last.size(), parts.ordinal);
    if (read.ec != std::errc()) return std::nullopt;
    last = take_last(key);
  }
  // "load" may be a fingerprint as well; then the word before it is the kind.
  std::string_view before = key;
  const bool is_kind = is_kind_name(last) && !is_kind_name(take_last(before));
  if (is_kind) {
    parts.kind = last;
  } else {
    parts.fingerprint = last;
    parts.kind = take_last(key);
  }
  parts.place = key;
  split_place(parts);
  if (!is_kind_name(parts.kind) || parts.place.empty()) return std::nullopt;
  return parts;
}

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
  return SiteTableParser(section, name).take_table();
}

std::string SiteTable::key_of(const abi::SiteRecord& record) const {
  std::string key = fmt::format("{}.{}.{}", string(record.place),
                                abi::name_of(static_cast<abi::SiteKind>(record.kind)),
                                letters(record.fingerprint));
  if (record.ordinal != 1) key += fmt::format(".{}", record.ordinal);
  return key;
}

std::vector<trace::Frame> SiteTable::frames_of(std::uint32_t first, std::uint32_t count) const {
  std::vector<trace::Frame> frames;
  frames.reserve(count);
  for (std::uint32_t i = first; i < first + count; ++i) {
    const abi::FrameRecord& frame = frames_[i];
    frames.push_back({string(frame.function), string(frame.file), frame.line, frame.column});
  }
  return frames;
}

const abi::FunctionRecord& SiteTable::function_of_block(std::uint32_t block) const {
  return *std::prev(
      std::ranges::upper_bound(functions_, block, {}, &abi::FunctionRecord::first_block));
}

std::optional<SiteTable::InstructionPlace> SiteTable::instruction(std::uint32_t number) const {
  const auto after =
      std::ranges::upper_bound(blocks_, number, {}, &abi::BlockRecord::first_instruction);
  if (after == blocks_.begin()) return std::nullopt;
  const auto block = static_cast<std::uint32_t>(std::prev(after) - blocks_.begin());
  const abi::FunctionRecord& function = function_of_block(block);
  const auto first_instruction = [this](std::size_t index) {
    return index < blocks_.size() ? blocks_[index].first_instruction
                                  : std::numeric_limits<std::uint32_t>::max();
  };
  const auto next_function = static_cast<std::size_t>(&function - functions_.data()) + 1;
  const std::size_t function_end =
      next_function < functions_.size() ? functions_[next_function].first_block : blocks_.size();
  InstructionPlace place{string(function.symbol),
                         block - function.first_block,
                         {},
                         first_instruction(block),
                         first_instruction(block + 1),
                         first_instruction(function.first_block),
                         first_instruction(function_end)};
  for (std::uint32_t loop = blocks_[block].loop; loop != 0; loop = loops_[loop - 1].parent) {
    place.loops.push_back(loop);
  }
  return place;
}

std::vector<abi::SiteId> SiteTable::sites_of_instructions(std::uint32_t first,
                                                          std::uint32_t end) const {
  const auto begin = std::ranges::lower_bound(by_instruction_, first, {},
                                              &decltype(by_instruction_)::value_type::first);
  std::vector<abi::SiteId> sites;
  for (auto entry = begin; entry != by_instruction_.end() && entry->first < end; ++entry) {
    sites.push_back(abi::kFirstSite + entry->second);
  }
  return sites;
}

std::optional<SiteInfo> SiteTable::find(abi::SiteId site) const {
  if (site < abi::kFirstSite || site - abi::kFirstSite >= sites_.size()) return std::nullopt;
  const abi::SiteRecord& record = sites_[site - abi::kFirstSite];
  InstructionPlace place = *instruction(record.instruction);  // the parser saw to that
  return SiteInfo{static_cast<abi::SiteKind>(record.kind),
                  static_cast<abi::Sharing>(record.sharing),
                  record.access_bytes,
                  key_of(record),
                  string(record.callee),
                  frames_of(record.first_frame, record.frames),
                  std::move(place.symbol),
                  place.block,
                  std::move(place.loops),
                  record.instruction};
}

std::optional<LoopInfo> SiteTable::loop(std::uint32_t number) const {
  if (number == 0 || number > loops_.size()) return std::nullopt;
  const abi::LoopRecord& record = loops_[number - 1];
  const abi::FunctionRecord& function = function_of_block(record.header);
  return LoopInfo{record.header - function.first_block, string(function.symbol),
                  frames_of(record.first_frame, record.frames)};
}

std::optional<abi::SiteId> SiteTable::by_key(std::string_view key) const {
  for (const auto& [hash, index] :
       std::ranges::equal_range(by_key_hash_, std::hash<std::string_view>{}(key), {},
                                &decltype(by_key_hash_)::value_type::first)) {
    if (key_of(sites_[index]) == key) return abi::kFirstSite + index;
  }
  const std::optional<KeyParts> wanted = split(key);
  if (!wanted) return std::nullopt;
  std::vector<std::uint32_t> at_place;
  std::vector<std::uint32_t> of_fingerprint;
  for (std::uint32_t i = 0; i < sites_.size(); ++i) {
    const abi::SiteRecord& record = sites_[i];
    if (abi::name_of(static_cast<abi::SiteKind>(record.kind)) != wanted->kind) continue;
    KeyParts here;
    here.place = string(record.place);
    if (here.place == wanted->place) at_place.push_back(i);
    if (letters(record.fingerprint) != wanted->fingerprint) continue;
    split_place(here);
    if (here.function == wanted->function && here.home == wanted->home) of_fingerprint.push_back(i);
  }
  if (wanted->fingerprint.empty()) {
    if (wanted->ordinal == 0 || wanted->ordinal > at_place.size()) return std::nullopt;
    return abi::kFirstSite + at_place[wanted->ordinal - 1];
  }
  if (of_fingerprint.size() == 1) return abi::kFirstSite + of_fingerprint[0];
  if (at_place.size() == 1) return abi::kFirstSite + at_place[0];
  return std::nullopt;
}

}  // namespace heddle::ir
