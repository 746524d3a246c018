// SPDX-License-Identifier: Apache-2.0
#include "cli/show_sites.h"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "abi/names.h"
#include "cli/code_sites.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "driver/build/build.h"
#include "driver/program.h"
#include "ir/site_table.h"

namespace heddle::cli {
namespace {

using abi::Sharing;
using abi::SharingVerdict;

ir::SiteTable sites_of(const std::string& name, const std::filesystem::path& file, bool quiet) {
  if (ir::SiteTable::is_in(file)) return ir::SiteTable::of_program(file);
  if (!build::is_heddle_built(file)) throw no_sites(name);
  ProgressLine progress(quiet);
  return ir::SiteTable::of_program(
      build::derive_sites(file, [&](std::string_view what) { progress.say(what); }));
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
      if (sharing == Sharing::NotAnAccess || sharing == Sharing::Opaque) continue;
      ++by_sharing[sharing];
      ++accesses;
      removed += verdict == SharingVerdict::Local || verdict == SharingVerdict::ReadOnly ? 1 : 0;
    }
  }
  double removed_percent() const {
    return accesses == 0 ? 0 : 100.0 * static_cast<double>(removed) / static_cast<double>(accesses);
  }
};

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

std::string loop_nest(const ir::SiteInfo& site) {
  std::string nest;
  for (auto loop = site.loops.rbegin(); loop != site.loops.rend(); ++loop) {
    nest += fmt::format("{}{}", nest.empty() ? "" : ">", *loop);
  }
  return nest.empty() ? "-" : nest;
}

void print_text(const std::string& name, const ir::SiteTable& sites) {
  fmt::print("{}: {} sites, {} loops\n", name, sites.size(), sites.loop_count());
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
               place_of(site.frames.front()), callee, inline_chain(site.frames));
  }
  const Summary summary(sites);
  fmt::print("\n{} accesses, {} ({:.1f} %) proved local or read-only and not hooked:\n",
             summary.accesses, summary.removed, summary.removed_percent());
  for (const auto& [sharing, count] : summary.by_sharing) {
    fmt::print("  {:>8}  {:<13} {}\n", count, abi::name_of(sharing), abi::reason_of(sharing));
  }
}

}  // namespace

ExitCode show_sites(const std::string& name, bool json) {
  const auto start = std::chrono::steady_clock::now();
  const std::filesystem::path file = driver::find_program(name);
  const ir::SiteTable sites = sites_of(name, file, json);
  if (!json) {
    print_text(name, sites);
    return ExitCode::Done;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  nlohmann::json object = json_result("show", "sites", "", seconds.count());
  object["program"] = name;
  object["build_id"] = build::read_build_id(file);
  object["sites"] = nlohmann::json::array();
  for (abi::SiteId id = abi::kFirstSite; id < sites.end(); ++id) {
    object["sites"].push_back(site_json(id, *sites.find(id)));
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
