// SPDX-License-Identifier: Apache-2.0
#include "cli/show_sites.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "abi/names.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "driver/program.h"
#include "ir/pc_map.h"
#include "ir/site_table.h"

namespace heddle::cli {
namespace {

using abi::Sharing;
using abi::SharingVerdict;

const ir::SiteTable& sites_of(const driver::Program& program) {
  if (const ir::SiteTable* sites = program.sites()) return *sites;
  throw user_error(
      fmt::format("{} was not built with heddle-cc or heddle-c++, so it has no sites; rebuild it "
                  "with: make CC=heddle-cc CXX=heddle-c++",
                  program.name()));
}

driver::Program open_program(const std::string& name, bool quiet) {
  ProgressLine progress(quiet);
  return driver::Program::open(name, [&](std::string_view what) { progress.say(what); });
}

/// How many accesses there are of each verdict.
struct Summary {
  std::map<Sharing, std::size_t> by_sharing;
  std::size_t accesses = 0;
  std::size_t removed = 0;  // proved local or read-only: not hooked

  explicit Summary(const ir::SiteTable& sites) {
    for (abi::SiteId id = abi::kFirstSite; id < sites.end(); ++id) {
      const Sharing sharing = sites.sharing(id);
      const SharingVerdict verdict = abi::verdict_of(sharing);
      if (sharing == Sharing::NotAnAccess) continue;
      ++by_sharing[sharing];
      ++accesses;
      removed += verdict == SharingVerdict::Local || verdict == SharingVerdict::ReadOnly ? 1 : 0;
    }
  }
  double removed_percent() const {
    return accesses == 0 ? 0 : 100.0 * static_cast<double>(removed) / static_cast<double>(accesses);
  }
};

nlohmann::json to_json(abi::SiteId id, const ir::SiteInfo& site) {
  nlohmann::json frames = nlohmann::json::array();
  for (const trace::Frame& frame : site.frames) {
    frames.push_back({{"function", frame.function},
                      {"file", frame.file},
                      {"line", frame.line},
                      {"column", frame.column}});
  }
  return {{"site", id},
          {"key", site.key},
          {"kind", abi::name_of(site.kind)},
          {"bytes", site.bytes},
          {"callee", site.callee},
          {"frames", frames},
          {"symbol", site.symbol},
          {"block", site.block},
          {"loops", site.loops},
          {"instruction", site.instruction},
          {"sharing", abi::name_of(site.sharing)},
          {"reason", abi::reason_of(site.sharing)}};
}

nlohmann::json loops_json(const ir::SiteTable& sites) {
  nlohmann::json loops = nlohmann::json::array();
  for (std::uint32_t number = 1; number <= sites.loop_count(); ++number) {
    const ir::LoopInfo loop = *sites.loop(number);
    nlohmann::json object = {{"loop", number}, {"symbol", loop.symbol}, {"header", loop.header}};
    if (!loop.frames.empty()) {
      object["file"] = loop.frames.front().file;
      object["line"] = loop.frames.front().line;
    }
    loops.push_back(std::move(object));
  }
  return loops;
}

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// Line 0 is what the compiler made up; it has no place.
std::string place_of(const trace::Frame& frame) {
  if (frame.file.empty() || frame.line == 0) return "?";
  return frame.column == 0
             ? fmt::format("{}:{}", base_name(frame.file), frame.line)
             : fmt::format("{}:{}:{}", base_name(frame.file), frame.line, frame.column);
}

std::string inline_chain(const ir::SiteInfo& site) {
  std::string chain;
  for (std::size_t i = 1; i < site.frames.size(); ++i) {
    chain += fmt::format(" < {} {}", site.frames[i].function, place_of(site.frames[i]));
  }
  return chain;
}

std::string loop_nest(const ir::SiteInfo& site) {
  std::string nest;
  for (auto loop = site.loops.rbegin(); loop != site.loops.rend(); ++loop) {
    nest += fmt::format("{}{}", nest.empty() ? "" : ">", *loop);
  }
  return nest.empty() ? "-" : nest;
}

void print_text(const driver::Program& program, const ir::SiteTable& sites) {
  fmt::print("{}: {} sites, {} loops\n", program.name(), sites.size(), sites.loop_count());
  std::string function;
  for (abi::SiteId id = abi::kFirstSite; id < sites.end(); ++id) {
    const ir::SiteInfo site = *sites.find(id);
    if (site.symbol != function) {
      function = site.symbol;
      fmt::print("\n{}\n  {:>6}  {:<12} {:>5}  {:>5}  {:<7} {:<13} {}\n",
                 site.frames.back().function, "site", "kind", "bytes", "block", "loops", "sharing",
                 "place");
    }
    const std::string bytes = site.bytes == 0 ? "-" : fmt::format("{}", site.bytes);
    const std::string callee = site.callee.empty() ? "" : fmt::format(" {}()", site.callee);
    fmt::print("  {:>6}  {:<12} {:>5}  {:>5}  {:<7} {:<13} {}{}{}\n", id, abi::name_of(site.kind),
               bytes, site.block, loop_nest(site), abi::name_of(site.sharing),
               place_of(site.frames.front()), callee, inline_chain(site));
  }
  const Summary summary(sites);
  fmt::print("\n{} accesses, {} ({:.1f} %) proved local or read-only and not hooked:\n",
             summary.accesses, summary.removed, summary.removed_percent());
  for (const auto& [sharing, count] : summary.by_sharing) {
    fmt::print("  {:>8}  {:<13} {}\n", count, abi::name_of(sharing), abi::reason_of(sharing));
  }
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

nlohmann::json address_json(std::uint64_t address, const ir::PcMap& map,
                            const ir::SiteTable& sites) {
  nlohmann::json object = {{"address", address}, {"instruction", nullptr}};
  const std::optional<std::uint32_t> number = map.instruction_at(address);
  const auto place = number ? sites.instruction(*number) : std::nullopt;
  if (!place) return object;
  object["instruction"] = *number;
  object["symbol"] = place->symbol;
  object["block"] = place->block;
  object["loops"] = place->loops;
  object["sites"] = nlohmann::json::array();
  for (const abi::SiteId site : sites.sites_of_instruction(*number)) {
    object["sites"].push_back(to_json(site, *sites.find(site)));
  }
  object["ranges"] = nlohmann::json::array();
  for (const ir::PcMap::Range& range : map.ranges_of(*number)) {
    object["ranges"].push_back({range.begin, range.end});
  }
  return object;
}

void print_address(std::uint64_t address, const ir::PcMap& map, const ir::SiteTable& sites) {
  const std::optional<std::uint32_t> number = map.instruction_at(address);
  const auto place = number ? sites.instruction(*number) : std::nullopt;
  if (!place) {
    fmt::print("{:#x}: of no single instruction\n", address);
    return;
  }
  fmt::print("{:#x}: instruction {}, block {} of {}\n", address, *number, place->block,
             place->symbol);
  for (const abi::SiteId id : sites.sites_of_instruction(*number)) {
    const ir::SiteInfo site = *sites.find(id);
    fmt::print("  site {}  {}  {}  {}{}\n", id, site.key, abi::name_of(site.sharing),
               place_of(site.frames.front()), inline_chain(site));
  }
}

}  // namespace

ExitCode show_addresses(const std::string& name, const std::vector<std::string>& addresses,
                        bool json) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::uint64_t> parsed;
  for (const std::string& address : addresses) parsed.push_back(parse_address(address));
  const driver::Program program = open_program(name, json);
  const ir::SiteTable& sites = sites_of(program);
  const ir::PcMap map = ir::PcMap::of_program(program.executable());
  if (!json) {
    for (const std::uint64_t address : parsed) print_address(address, map, sites);
    return ExitCode::Done;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  nlohmann::json object = json_result("show", "addresses", "", seconds.count());
  object["program"] = program.name();
  object["variant"] = program.executable().string();
  object["addresses"] = nlohmann::json::array();
  for (const std::uint64_t address : parsed) {
    object["addresses"].push_back(address_json(address, map, sites));
  }
  print_json(object);
  return ExitCode::Done;
}

ExitCode show_sites(const std::string& name, bool json) {
  const auto start = std::chrono::steady_clock::now();
  const driver::Program program = open_program(name, json);
  const ir::SiteTable& sites = sites_of(program);
  if (!json) {
    print_text(program, sites);
    return ExitCode::Done;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  nlohmann::json object = json_result("show", "sites", "", seconds.count());
  object["program"] = program.name();
  object["build_id"] = program.build_id();
  object["sites"] = nlohmann::json::array();
  for (abi::SiteId id = abi::kFirstSite; id < sites.end(); ++id) {
    object["sites"].push_back(to_json(id, *sites.find(id)));
  }
  object["loops"] = loops_json(sites);
  const Summary summary(sites);
  object["accesses"] = summary.accesses;
  object["accesses_removed"] = summary.removed;
  object["sharing"] = nlohmann::json::object();
  for (const auto& [sharing, count] : summary.by_sharing) {
    object["sharing"][abi::name_of(sharing)] = count;
  }
  print_json(object);
  return ExitCode::Done;
}

}  // namespace heddle::cli
