// SPDX-License-Identifier: Apache-2.0
#include "analysis/reduce/overlook.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "trace/words.h"

namespace heddle::analysis {

using trace::EventKind;

bool is_plain_access(EventKind kind) {
  return kind == EventKind::Load || kind == EventKind::Store || kind == EventKind::RangeRead ||
         kind == EventKind::RangeWrite;
}

bool has_slice(const trace::Outcome& outcome) {
  switch (outcome.kind) {
    case abi::FailureKind::Predicate:
    case abi::FailureKind::Exit:
    case abi::FailureKind::NoProgress:
    case abi::FailureKind::Hang: return false;
    default: return true;
  }
}

trace::Trace without_iterations(trace::Trace trace) {
  std::erase_if(trace.events, [](const trace::Event& event) {
    return event.kind == EventKind::IterationBegin || event.kind == EventKind::IterationEnd;
  });
  return trace;
}

std::vector<std::string> sites_to_overlook(const trace::Trace& trace,
                                           const std::vector<bool>& needed) {
  std::vector<bool> has_plain(trace.sites.size());
  std::vector<bool> is_seen(trace.sites.size());
  const auto see = [&](trace::SiteIndex site) {
    if (site != trace::kNone) is_seen[site] = true;
  };
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const trace::Event& event = trace.events[i];
    if (event.site == trace::kNone) continue;
    has_plain[event.site] = true;
    if (needed[i] || !is_plain_access(event.kind)) see(event.site);
  }
  see(trace.outcome.site);
  see(trace.outcome.related_site);
  std::vector<std::string> result;
  for (std::size_t i = 0; i < trace.sites.size(); ++i) {
    if (has_plain[i] && !is_seen[i]) result.push_back(trace.sites[i].key);
  }
  return result;
}

std::vector<OverlookedLine> overlooked_lines(const trace::Trace& before,
                                             const std::vector<std::string>& sites) {
  const std::set<std::string> overlooked(sites.begin(), sites.end());
  std::map<std::pair<std::string, std::uint32_t>, OverlookedLine> lines;
  std::vector<OverlookedLine*> line_of(before.sites.size(), nullptr);
  for (std::size_t i = 0; i < before.sites.size(); ++i) {
    if (!overlooked.contains(before.sites[i].key)) continue;
    const trace::Frame* const frame = trace::source_frame(before.sites[i]);
    const trace::Frame place = frame == nullptr ? trace::Frame{} : *frame;
    OverlookedLine& line = lines[{place.file, place.line}];
    line.place = place;
    ++line.sites;
    line_of[i] = &line;
  }
  for (const trace::Event& event : before.events) {
    if (event.site != trace::kNone && line_of[event.site] != nullptr) {
      ++line_of[event.site]->accesses;
    }
  }
  std::vector<OverlookedLine> result;
  result.reserve(lines.size());
  for (auto& [place, line] : lines) result.push_back(std::move(line));
  std::sort(result.begin(), result.end(), [](const OverlookedLine& a, const OverlookedLine& b) {
    return std::tie(b.accesses, a.place.file, a.place.line) <
           std::tie(a.accesses, b.place.file, b.place.line);
  });
  return result;
}

}  // namespace heddle::analysis
