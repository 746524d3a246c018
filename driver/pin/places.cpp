// SPDX-License-Identifier: Apache-2.0
#include "driver/pin/places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string_view>

namespace heddle::driver {
namespace {

/// "src/queue.c" is meant by "queue.c" and by "/home/me/src/queue.c".
bool is_file(std::string_view known, std::string_view wanted) {
  if (known.size() < wanted.size()) std::swap(known, wanted);
  return known.ends_with(wanted) &&
         (known.size() == wanted.size() || known[known.size() - wanted.size() - 1] == '/');
}

/// The innermost place in that file: what a library's header does (std::lock_guard) happens on the
/// line that says it.
auto frame_in(const ir::SiteInfo& info, std::string_view file) {
  return std::ranges::find_if(info.frames,
                              [&](const trace::Frame& frame) { return is_file(frame.file, file); });
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
    const auto frame = std::ranges::find(info.frames, place.function, &trace::Frame::function);
    if (frame == info.frames.end() || is_step(info.kind)) continue;
    const std::string here = essence(sources.line(frame->file, frame->line));
    is_readable = is_readable || !here.empty();
    if (here == wanted) found[frame->line] = frame->file;
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
    files.insert(info.frames.front().file);
    const auto frame = frame_in(info, place.file);
    if (frame == info.frames.end()) continue;
    lines.insert(frame->line);
    if (frame->line != place.line) continue;
    std::string copy = info.symbol;
    for (auto caller = std::next(frame); caller != info.frames.end(); ++caller) {
      copy += fmt::format(" {}:{}", caller->line, caller->column);
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

/// Calls that take a lock and return 0 if they have it; what it is comes first.
constexpr std::string_view kTakers[] = {"pthread_mutex_lock",
                                        "pthread_mutex_trylock",
                                        "pthread_mutex_timedlock",
                                        "pthread_mutex_clocklock",
                                        "pthread_spin_lock",
                                        "pthread_spin_trylock",
                                        "pthread_rwlock_rdlock",
                                        "pthread_rwlock_tryrdlock",
                                        "pthread_rwlock_timedrdlock",
                                        "pthread_rwlock_clockrdlock",
                                        "pthread_rwlock_wrlock",
                                        "pthread_rwlock_trywrlock",
                                        "pthread_rwlock_timedwrlock",
                                        "pthread_rwlock_clockwrlock",
                                        "mtx_lock",
                                        "mtx_trylock",
                                        "mtx_timedlock"};
constexpr std::string_view kGivers[] = {"pthread_mutex_unlock", "pthread_spin_unlock",
                                        "pthread_rwlock_unlock", "mtx_unlock"};

bool takes_lock(const ir::SiteInfo& info) {
  return std::ranges::find(kTakers, info.callee) != std::end(kTakers);
}

}  // namespace

std::vector<abi::SiteId> resolve(const trace::PinPlace& place, const ir::SiteTable& sites,
                                 bool last) {
  if (!place.site.empty()) {
    if (const auto id = sites.by_key(place.site)) return {*id};
    if (place.file.empty() && place.function.empty()) {
      throw UnknownPlace(fmt::format(
          "the program has no site {}; list them: heddle show --sites PROG", place.site));
    }
  }
  if (!place.file.empty()) return sites_of_line(find_again(place, sites), sites, last);
  if (!place.function.empty()) return sites_of_function(place, sites);
  throw user_error("a breakpoint's place needs a \"file\" and a \"line\", or a \"function\"");
}

std::vector<abi::SiteId> resolve_function(const trace::PinPlace& place,
                                          const ir::SiteTable& sites) {
  if (const auto id = sites.by_key(place.site);
      id && sites.find(*id)->kind == abi::SiteKind::Function) {
    return {*id};
  }
  if (place.function.empty()) throw user_error("a calling context needs a \"function\"");
  return sites_of_function(place, sites);
}

std::vector<abi::SiteId> resolve_lock(const trace::PinPlace& place, const ir::SiteTable& sites) {
  if (const auto id = sites.by_key(place.site); id && takes_lock(*sites.find(*id))) return {*id};
  if (place.file.empty()) {
    throw user_error("where a lock is taken needs a \"file\" and a \"line\"");
  }
  const trace::PinPlace now = find_again(place, sites);
  std::vector<abi::SiteId> found;
  std::set<std::uint32_t> lines;
  for (const abi::SiteId id : lock_calls(sites).takers) {
    const ir::SiteInfo info = *sites.find(id);
    const auto frame = frame_in(info, now.file);
    if (frame == info.frames.end()) continue;
    lines.insert(frame->line);
    if (frame->line == now.line) found.push_back(id);
  }
  if (found.empty()) {
    throw UnknownPlace(
        lines.empty() ? fmt::format("no lock is taken in {}", now.file)
                      : fmt::format("no lock is taken at {}:{}; the nearest lines where one is: {}",
                                    now.file, now.line, nearest_lines(lines, now.line)));
  }
  return found;
}

LockCalls lock_calls(const ir::SiteTable& sites) {
  LockCalls calls;
  for (abi::SiteId id = abi::kFirstSite; id < sites.end(); ++id) {
    const ir::SiteInfo info = *sites.find(id);
    if (info.kind != abi::SiteKind::Call) continue;
    if (takes_lock(info)) calls.takers.push_back(id);
    if (std::ranges::find(kGivers, info.callee) != std::end(kGivers)) calls.givers.push_back(id);
  }
  return calls;
}

}  // namespace heddle::driver
