// SPDX-License-Identifier: Apache-2.0
#include "cli/code_sites.h"

#include <fmt/format.h>

#include <charconv>

#include "abi/names.h"

namespace heddle::cli {
namespace {

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

nlohmann::json frames_json(const std::vector<trace::Frame>& frames) {
  nlohmann::json array = nlohmann::json::array();
  for (const trace::Frame& frame : frames) {
    array.push_back({{"function", frame.function},
                     {"file", frame.file},
                     {"line", frame.line},
                     {"column", frame.column}});
  }
  return array;
}

nlohmann::json site_json(abi::SiteId id, const ir::SiteInfo& site) {
  return {{"site", id},
          {"key", site.key},
          {"kind", abi::name_of(site.kind)},
          {"bytes", site.bytes},
          {"callee", site.callee},
          {"frames", frames_json(site.frames)},
          {"symbol", site.symbol},
          {"block", site.block},
          {"loops", site.loops},
          {"instruction", site.instruction},
          {"sharing", abi::name_of(site.sharing)},
          {"reason", abi::reason_of(site.sharing)}};
}

// Line 0 is what the compiler made up; it has no place.
std::string place_of(const trace::Frame& frame) {
  if (frame.file.empty() || frame.line == 0) return "?";
  return frame.column == 0
             ? fmt::format("{}:{}", base_name(frame.file), frame.line)
             : fmt::format("{}:{}:{}", base_name(frame.file), frame.line, frame.column);
}

std::string inline_chain(const std::vector<trace::Frame>& frames) {
  std::string chain;
  for (std::size_t i = 1; i < frames.size(); ++i) {
    chain += fmt::format(" < {} {}", frames[i].function, place_of(frames[i]));
  }
  return chain;
}

Error no_sites(const std::string& name) {
  return user_error(
      fmt::format("{} was not built with heddle-cc or heddle-c++, so it has no sites; rebuild it "
                  "with: make CC=heddle-cc CXX=heddle-c++",
                  name));
}

std::uint64_t parse_address(const std::string& text) {
  const std::string_view digits = std::string_view(text).substr(text.starts_with("0x") ? 2 : 0);
  std::uint64_t address = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), address, 16);
  if (digits.empty() || read.ec != std::errc() || read.ptr != digits.data() + digits.size()) {
    throw user_error(fmt::format("'{}' is not an address; give one such as 0x12a4", text));
  }
  return address;
}

CodeSites::CodeSites(const std::filesystem::path& file)
    : sites_(ir::SiteTable::of_program(file)), code_(sites_, file) {}

void CodeSites::add_json(std::uint64_t file_address, bool in_call, nlohmann::json& object) const {
  object["instruction"] = nullptr;
  const std::optional<std::uint32_t> number =
      in_call ? code_.map().instruction_at(file_address) : code_.instruction_at(file_address);
  const auto place = number ? sites_.instruction(*number) : std::nullopt;
  if (!place) return;
  object["instruction"] = *number;
  object["symbol"] = place->symbol;
  object["block"] = place->block;
  object["loops"] = place->loops;
  object["sites"] = nlohmann::json::array();
  for (const abi::SiteId site : sites_at(file_address, in_call)) {
    object["sites"].push_back(site_json(site, *sites_.find(site)));
  }
  object["ranges"] = nlohmann::json::array();
  for (const ir::PcMap::Range& range : code_.map().ranges_of(*number)) {
    object["ranges"].push_back({range.begin, range.end});
  }
}

std::string CodeSites::instruction_words(std::uint64_t file_address) const {
  const std::optional<std::uint32_t> number = code_.instruction_at(file_address);
  const auto place = number ? sites_.instruction(*number) : std::nullopt;
  if (!place) return {};
  return fmt::format("instruction {}, block {} of {}", *number, place->block, place->symbol);
}

std::vector<std::string> CodeSites::site_words(std::uint64_t file_address) const {
  std::vector<std::string> words;
  for (const abi::SiteId id : sites_at(file_address)) {
    const ir::SiteInfo site = *sites_.find(id);
    words.push_back(fmt::format("site {}  {}  {}  {}{}", id, site.key, abi::name_of(site.sharing),
                                place_of(site.frames.front()), inline_chain(site.frames)));
  }
  return words;
}

}  // namespace heddle::cli
