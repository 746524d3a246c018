// SPDX-License-Identifier: Apache-2.0
#include "analysis/localise/falcon.h"

#include <deque>
#include <utility>

namespace heddle::analysis {
namespace {

constexpr std::size_t kWindow = 5;

bool conflict(const Accesses& accesses, std::size_t x, std::size_t y) {
  return accesses.owner(x) != accesses.owner(y) &&
         (writes(accesses.role(x)) || writes(accesses.role(y)));
}

/// R-W-R, W-W-R, R-W-W, W-R-W.
bool unserialisable(const Accesses& accesses, std::size_t x, std::size_t y, std::size_t z) {
  const bool a = writes(accesses.role(x));
  const bool b = writes(accesses.role(y));
  const bool c = writes(accesses.role(z));
  return b ? !(a && c) : a && c;
}

}  // namespace

std::map<Pattern, std::vector<std::size_t>> falcon_patterns(const Accesses& accesses) {
  std::map<Pattern, std::vector<std::size_t>> result;
  std::map<std::pair<trace::ObjectIndex, std::uint64_t>, std::deque<std::size_t>> windows;
  const trace::Trace& trace = accesses.trace();
  const auto add = [&](const std::vector<std::size_t>& events) {
    Pattern pattern;
    for (const std::size_t event : events) {
      const trace::SiteIndex site = trace.events[event].site;
      pattern.push_back(
          {site == trace::kNone ? "<unknown>" : trace.sites[site].key, "", accesses.role(event)});
    }
    result.emplace(std::move(pattern), events);
  };
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    if (accesses.role(i) == Role::None) continue;
    std::deque<std::size_t>& window = windows[{trace.events[i].object, trace.events[i].offset}];
    if (!window.empty()) {
      const std::size_t last = window.back();
      // A thread that reads again what it has just accessed adds nothing.
      if (accesses.owner(last) == accesses.owner(i) && !writes(accesses.role(i))) continue;
      if (conflict(accesses, last, i) && !accesses.before(last, i)) add({last, i});
      for (std::size_t k = window.size(); accesses.owner(last) != accesses.owner(i) && k-- > 0;) {
        if (accesses.owner(window[k]) != accesses.owner(i)) continue;
        if (unserialisable(accesses, window[k], last, i)) add({window[k], last, i});
        break;
      }
    }
    window.push_back(i);
    if (window.size() > kWindow) window.pop_front();
  }
  return result;
}

double jaccard(std::uint64_t passing_with_pattern) {
  return 1.0 / (1.0 + static_cast<double>(passing_with_pattern));
}

}  // namespace heddle::analysis
