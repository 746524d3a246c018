// SPDX-License-Identifier: Apache-2.0
#include "driver/pin/weave.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string_view>

#include "abi/woven.h"
#include "base/error.h"

namespace heddle::driver {
namespace {

/// "src/queue.c" is meant by "queue.c" and by "/home/me/src/queue.c".
bool is_file(std::string_view known, std::string_view wanted) {
  if (known.size() < wanted.size()) std::swap(known, wanted);
  return known.ends_with(wanted) &&
         (known.size() == wanted.size() || known[known.size() - wanted.size() - 1] == '/');
}

bool is_step(abi::SiteKind kind) {
  return kind == abi::SiteKind::Function || kind == abi::SiteKind::Loop ||
         kind == abi::SiteKind::Block || kind == abi::SiteKind::Branch;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t k = 0; k <= b.size(); ++k) row[k] = k;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t k = 1; k <= b.size(); ++k) {
      const std::size_t change = diagonal + (a[i - 1] == b[k - 1] ? 0 : 1);
      diagonal = row[k];
      row[k] = std::min({change, row[k] + 1, row[k - 1] + 1});
    }
  }
  return row.back();
}

std::string nearest_names(const std::set<std::string>& names, std::string_view wanted) {
  constexpr std::size_t kShown = 3;
  std::vector<std::string> sorted(names.begin(), names.end());
  std::ranges::sort(sorted, {}, [&](const std::string& name) {
    return std::pair(edit_distance(name, wanted), name);
  });
  if (sorted.size() > kShown) sorted.resize(kShown);
  return fmt::format("{}", fmt::join(sorted, ", "));
}

std::string nearest_lines(const std::set<std::uint32_t>& lines, std::uint32_t wanted) {
  constexpr std::size_t kShown = 3;
  std::vector<std::uint32_t> sorted(lines.begin(), lines.end());
  std::ranges::sort(sorted, {}, [&](std::uint32_t line) {
    return std::pair(std::labs(static_cast<long>(line) - static_cast<long>(wanted)), line);
  });
  if (sorted.size() > kShown) sorted.resize(kShown);
  std::ranges::sort(sorted);
  return fmt::format("{}", fmt::join(sorted, ", "));
}

/// A line as it is compared: without white space and the comment at its end.
std::string essence(std::string_view line) {
  std::string text;
  for (const char c : line.substr(0, line.find("//"))) {
    if (c != ' ' && c != '\t') text += c;
  }
  return text;
}

class Sources {
 public:
  /// Empty when the file cannot be read or has no such line.
  std::string line(const std::string& file, std::uint32_t number) {
    const auto [entry, is_new] = files_.try_emplace(file);
    if (is_new) {
      std::ifstream in(file);
      for (std::string line; std::getline(in, line);) entry->second.push_back(std::move(line));
    }
    return number >= 1 && number <= entry->second.size() ? entry->second[number - 1] : "";
  }

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

/// Where the quoted line is by now: the source may have changed round it. The place itself if that
/// cannot be told.
trace::PinPlace find_again(trace::PinPlace place, const ir::SiteTable& sites) {
  const std::string wanted = essence(place.text);
  if (wanted.empty()) return place;
  Sources sources;
  std::map<std::uint32_t, std::string> found;  // line to file
  bool is_readable = false;
  for (abi::SiteId id = abi::kFirstSite; id < sites.end(); ++id) {
    const ir::SiteInfo info = *sites.find(id);
    if (info.frames.empty() || is_step(info.kind)) continue;
    const trace::Frame& frame = info.frames.front();
    if (frame.function != place.function) continue;
    const std::string here = essence(sources.line(frame.file, frame.line));
    is_readable = is_readable || !here.empty();
    if (here == wanted) found[frame.line] = frame.file;
  }
  if (found.empty()) {
    if (!is_readable) return place;
    throw UnknownPlace(fmt::format("{} does not do this any more: {}", place.function, place.text));
  }
  const auto nearest = std::ranges::min_element(found, {}, [&](const auto& entry) {
    return std::labs(static_cast<long>(entry.first) - static_cast<long>(place.line));
  });
  place.line = nearest->first;
  place.file = nearest->second;
  return place;
}

std::vector<abi::SiteId> sites_of_line(const trace::PinPlace& place, const ir::SiteTable& sites,
                                       bool last) {
  // One for each copy of the code: by the physical function and the way it was inlined.
  std::map<std::string, abi::SiteId> found;
  std::set<std::uint32_t> lines;
  std::set<std::string> files;
  for (abi::SiteId id = abi::kFirstSite; id < sites.end(); ++id) {
    const ir::SiteInfo info = *sites.find(id);
    if (info.frames.empty() || is_step(info.kind)) continue;
    const trace::Frame& frame = info.frames.front();
    files.insert(frame.file);
    if (!is_file(frame.file, place.file)) continue;
    lines.insert(frame.line);
    if (frame.line != place.line) continue;
    std::string copy = info.symbol;
    for (std::size_t i = 1; i < info.frames.size(); ++i) {
      copy += fmt::format(" {}:{}", info.frames[i].line, info.frames[i].column);
    }
    const auto [entry, is_new] = found.try_emplace(copy, id);
    if (!is_new && last) entry->second = id;
  }
  if (found.empty()) {
    if (lines.empty()) {
      throw UnknownPlace(fmt::format("no code of the program is in {}; there are: {}", place.file,
                                     nearest_names(files, place.file)));
    }
    throw UnknownPlace(
        fmt::format("nothing at {}:{} touches memory or calls out of the program, or it was "
                    "optimised away; the nearest lines that do: {}",
                    place.file, place.line, nearest_lines(lines, place.line)));
  }
  std::vector<abi::SiteId> ids;
  for (const auto& [copy, id] : found) ids.push_back(id);
  std::ranges::sort(ids);
  return ids;
}

std::vector<abi::SiteId> sites_of_function(const trace::PinPlace& place,
                                           const ir::SiteTable& sites) {
  std::vector<abi::SiteId> found;
  std::set<std::string> names;
  for (abi::SiteId id = abi::kFirstSite; id < sites.end(); ++id) {
    const ir::SiteInfo info = *sites.find(id);
    if (info.kind != abi::SiteKind::Function) continue;
    const std::string name = info.frames.empty() ? info.symbol : info.frames.front().function;
    names.insert(name);
    if (name == place.function || info.symbol == place.function) found.push_back(id);
  }
  if (found.empty()) {
    throw UnknownPlace(fmt::format(
        "the program has no function {}, or it was inlined everywhere; the nearest names: {}",
        place.function, nearest_names(names, place.function)));
  }
  return found;
}

/// For the pass (abi/woven.h).
const char* word_of(trace::PinMoment moment) {
  switch (moment) {
    case trace::PinMoment::Behind: return "after";
    case trace::PinMoment::Woken: return "woken";
    case trace::PinMoment::Before: break;
  }
  return "before";
}

}  // namespace

std::vector<abi::SiteId> resolve(const trace::PinPlace& place, const ir::SiteTable& sites,
                                 bool last) {
  if (!place.site.empty()) {
    if (const auto id = sites.by_key(place.site)) return {*id};
    if (place.file.empty()) {
      throw UnknownPlace(fmt::format(
          "the program has no site {}; list them: heddle show --sites PROG", place.site));
    }
  }
  if (!place.file.empty()) return sites_of_line(find_again(place, sites), sites, last);
  if (!place.function.empty()) return sites_of_function(place, sites);
  throw user_error("a breakpoint's place needs a \"file\" and a \"line\", or a \"function\"");
}

Loom::Stitch Loom::stitch_of(const trace::PinPlace& place, trace::PinMoment moment,
                             const std::string& when) const {
  Stitch stitch{moment, resolve(place, sites_, moment != trace::PinMoment::Before), when};
  if (moment != trace::PinMoment::Woken) return stitch;
  if (!when.empty()) throw user_error("a side that is \"woken\" cannot have a condition");
  for (const abi::SiteId site : stitch.sites) {
    if (sites_.find(site)->callee.find("cond") == std::string::npos) {
      throw UnknownPlace(fmt::format("{}:{} does not wait for a condition: nobody is woken there",
                                     place.file, place.line));
    }
  }
  return stitch;
}

Loom::Stitch Loom::stitch_of(const trace::PinSide& side) const {
  return stitch_of(side.at, side.moment, side.when);
}

Loom::Stitch Loom::end_of(const trace::PinSide& side) const {
  return stitch_of(*side.until,
                   side.until_before ? trace::PinMoment::Before : trace::PinMoment::Behind, {});
}

void Loom::number(const Stitch& stitch) {
  if (places_.try_emplace(stitch, places_.size()).second && places_.size() > HEDDLE_WOVEN_PLACES) {
    throw user_error(
        fmt::format("breakpoints at more than {} places at once", int{HEDDLE_WOVEN_PLACES}));
  }
}

void Loom::add(const trace::Pins& pins) {
  if (pins.size() > HEDDLE_WOVEN_BREAKPOINTS) {
    throw user_error(
        fmt::format("more than {} breakpoints at once", int{HEDDLE_WOVEN_BREAKPOINTS}));
  }
  for (const trace::PinBreakpoint& breakpoint : pins) {
    for (const trace::PinSide& side : breakpoint.at) {
      number(stitch_of(side));
      if (side.until) number(end_of(side));
    }
  }
}

void Loom::watch(const trace::PinPlace& place) {
  number(stitch_of(place, trace::PinMoment::Before, {}));
}

std::string Loom::weaving(const std::string& plan) const {
  // What is woven later goes closer to the instruction: ends of one breakpoint's actions come
  // before arrivals of the next, whichever way the places were numbered.
  std::string text;
  for (const auto& [stitch, number] : places_) {
    for (const abi::SiteId site : stitch.sites) {
      text += fmt::format("{} {} {}{}{}\n", word_of(stitch.moment), site, number,
                          stitch.when.empty() ? "" : " ", stitch.when);
    }
  }
  return text + "plan\n" + plan;
}

std::string Loom::plan(const trace::Pins& pins) const {
  std::string text;
  for (const trace::PinBreakpoint& b : pins) {
    text += fmt::format("breakpoint {} {} {} {} {} {}\n", b.sides, b.pause_ms, b.order_ms, b.bound,
                        b.give_up, b.name);
  }
  for (std::size_t i = 0; i < pins.size(); ++i) {
    for (const trace::PinSide& side : pins[i].at) {
      const int number = side.side == trace::kEitherSide ? -1 : static_cast<int>(side.side);
      text += fmt::format("arrive {} {} {} {} {} {} {} {}\n", place_of(stitch_of(side)), i, number,
                          side.visit, side.ignore_first, side.until ? 1 : 0, side.bound,
                          side.thread.empty() ? "-" : side.thread);
      if (side.until) text += fmt::format("end {} {}\n", place_of(end_of(side)), i);
    }
  }
  return text;
}

}  // namespace heddle::driver
