// SPDX-License-Identifier: Apache-2.0
#include "analysis/reduce/relevance.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>

#include "abi/names.h"

namespace heddle::analysis {
namespace {

using abi::Access;
using trace::Event;
using trace::Trace;

constexpr std::size_t kNobody = ~std::size_t{0};

/// For each event the last write to the same place by another thread before it.
std::vector<std::size_t> writers(const Trace& trace) {
  std::map<std::pair<trace::ObjectIndex, std::uint64_t>, std::size_t> last;
  std::vector<std::size_t> result(trace.events.size(), kNobody);
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const Event& event = trace.events[i];
    const Access access = abi::access_of(event.kind);
    if (event.object == trace::kNone || access == Access::None || access == Access::Sync) continue;
    const std::pair place{event.object, event.offset / 8};
    const auto found = last.find(place);
    if (found != last.end() && trace.events[found->second].thread != event.thread) {
      result[i] = found->second;
    }
    if (access != Access::Read) last[place] = i;
  }
  return result;
}

}  // namespace

std::vector<std::string> threads_by_relevance(const Trace& trace) {
  std::vector<bool> listed(trace.threads.size(), false);
  std::vector<std::string> result;
  struct Visit {
    trace::ThreadId thread;
    std::size_t end;  // what the thread did before this event
  };
  std::deque<Visit> visits;
  const auto add = [&](trace::ThreadId thread, std::size_t end) {
    if (thread >= listed.size() || listed[thread]) return;
    listed[thread] = true;
    visits.push_back({thread, end});
    const std::string& path = trace.threads[thread].path;
    if (path != "t0" && !path.ends_with('~')) result.push_back(path);
  };
  for (const trace::Wait& wait : trace.outcome.waits) add(wait.thread, trace.events.size());
  add(trace.outcome.thread, trace.events.size());
  if (!trace.events.empty()) add(trace.events.back().thread, trace.events.size());

  const std::vector<std::size_t> writer = writers(trace);
  std::vector<std::vector<std::size_t>> events(trace.threads.size());
  for (std::size_t i = 0; i < trace.events.size(); ++i) events[trace.events[i].thread].push_back(i);
  while (!visits.empty()) {
    const Visit visit = visits.front();
    visits.pop_front();
    const auto& own = events[visit.thread];
    for (auto event = own.rbegin(); event != own.rend(); ++event) {
      if (*event >= visit.end || writer[*event] == kNobody) continue;
      add(trace.events[writer[*event]].thread, writer[*event]);
    }
  }
  for (std::size_t i = trace.events.size(); i > 0; --i) {
    add(trace.events[i - 1].thread, 0);
  }
  for (std::size_t i = 0; i < trace.threads.size(); ++i) add(static_cast<trace::ThreadId>(i), 0);
  return result;
}

}  // namespace heddle::analysis
