// SPDX-License-Identifier: Apache-2.0
#include "analysis/reduce/relevance.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <set>

#include "abi/names.h"

namespace heddle::analysis {
namespace {

using abi::Access;
using trace::Event;
using trace::Trace;

constexpr std::size_t kNobody = ~std::size_t{0};

enum class Of { Anybody, Others };

struct ForeignWriters {
  std::vector<std::size_t> last;  // for each event: of another thread to the same place before it
  std::vector<std::size_t> covered;  // and where its own thread first wrote over that, if it has
};

ForeignWriters foreign_writers(const Trace& trace) {
  struct Last {
    std::size_t write = kNobody;
    std::size_t before = kNobody;  // the last one of another thread than that
    std::size_t since = kNobody;   // the first one after that
  };
  std::map<std::pair<trace::ObjectIndex, std::uint64_t>, Last> places;
  const std::vector<std::size_t> nobody(trace.events.size(), kNobody);
  ForeignWriters result{nobody, nobody};
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const Event& event = trace.events[i];
    const Access access = abi::access_of(event.kind);
    if (event.object == trace::kNone || access == Access::None || access == Access::Sync) continue;
    Last& last = places[{event.object, event.offset / 8}];
    const bool own = last.write != kNobody && trace.events[last.write].thread == event.thread;
    result.last[i] = own ? last.before : last.write;
    if (own && last.before != kNobody) result.covered[i] = last.since;
    if (access == Access::Read) continue;
    if (!own) {
      last.before = last.write;
      last.since = i;
    }
    last.write = i;
  }
  return result;
}

/// For each event the last write to the same place before it; if `whose` are others' alone and the
/// last one is of the same thread, none.
std::vector<std::size_t> writers(const Trace& trace, Of whose) {
  std::map<std::pair<trace::ObjectIndex, std::uint64_t>, std::size_t> last;
  std::vector<std::size_t> result(trace.events.size(), kNobody);
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const Event& event = trace.events[i];
    const Access access = abi::access_of(event.kind);
    if (event.object == trace::kNone || access == Access::None || access == Access::Sync) continue;
    const std::pair place{event.object, event.offset / 8};
    const auto found = last.find(place);
    if (found != last.end() &&
        (whose == Of::Anybody || trace.events[found->second].thread != event.thread)) {
      result[i] = found->second;
    }
    if (access != Access::Read) last[place] = i;
  }
  return result;
}

/// Of a thread that is in no iteration when it fails, so many events count as those of the failure.
constexpr std::size_t kLastEvents = 32;

/// Which events belong to which iterations.
class IterationTree {
 public:
  explicit IterationTree(const Trace& trace)
      : all_(iterations_of(trace)),
        parent_(all_.size(), kNobody),
        events_(all_.size()),
        innermost_(trace.events.size(), kNobody),
        open_(trace.threads.size(), kNobody) {
    std::size_t begun = 0;
    for (std::size_t i = 0; i < trace.events.size(); ++i) {
      const Event& event = trace.events[i];
      std::size_t& open = open_[event.thread];
      if (event.kind == trace::EventKind::IterationBegin) {
        parent_[begun] = open;
        open = begun++;
      }
      innermost_[i] = open;
      if (open != kNobody) events_[open].push_back(i);
      if (event.kind == trace::EventKind::IterationEnd && open != kNobody) open = parent_[open];
    }
  }

  const Iteration& operator[](std::size_t index) const { return all_[index]; }
  std::size_t size() const { return all_.size(); }
  /// kNobody: none.
  std::size_t around(std::size_t iteration) const { return parent_[iteration]; }
  std::size_t of_event(std::size_t event) const { return innermost_[event]; }
  std::size_t open_at_end(trace::ThreadId thread) const { return open_[thread]; }
  /// Those not in an iteration within it.
  const std::vector<std::size_t>& events(std::size_t iteration) const { return events_[iteration]; }

 private:
  std::vector<Iteration> all_;
  std::vector<std::size_t> parent_;
  std::vector<std::vector<std::size_t>> events_;
  std::vector<std::size_t> innermost_;
  std::vector<std::size_t> open_;  // by thread
};

std::vector<trace::ThreadId> failing_threads(const Trace& trace) {
  std::vector<trace::ThreadId> result;
  for (const trace::Wait& wait : trace.outcome.waits) result.push_back(wait.thread);
  if (trace.outcome.thread < trace.threads.size()) result.push_back(trace.outcome.thread);
  if (result.empty() && !trace.events.empty()) result.push_back(trace.events.back().thread);
  return result;
}

/// The thread's events that are told as the failure's own.
std::vector<std::size_t> last_events(const Trace& trace, const IterationTree& tree,
                                     trace::ThreadId thread) {
  if (const std::size_t open = tree.open_at_end(thread); open != kNobody) return tree.events(open);
  std::vector<std::size_t> result;
  for (std::size_t i = trace.events.size(); i > 0 && result.size() < kLastEvents; --i) {
    if (trace.events[i - 1].thread == thread) result.push_back(i - 1);
  }
  return result;
}

}  // namespace

Neighbourhood neighbourhood(const Trace& trace, int steps, Overwritten overwritten) {
  const IterationTree tree(trace);
  std::vector<std::vector<std::size_t>> writers_of_step = {writers(trace, Of::Anybody)};
  if (overwritten == Overwritten::ByItself) {
    ForeignWriters foreign = foreign_writers(trace);
    writers_of_step.push_back(std::move(foreign.last));
    writers_of_step.push_back(std::move(foreign.covered));
  }
  std::vector<bool> needed(tree.size(), false);
  std::set<std::string> threads;
  const auto need_thread = [&](trace::ThreadId thread) {
    const std::string path = trace.threads[thread].path;
    for (std::size_t end = path.find_first_of(".~");; end = path.find_first_of(".~", end + 1)) {
      threads.insert(path.substr(0, end));
      if (end == std::string::npos) return;
    }
  };
  std::vector<std::size_t> events;
  // The events of an iteration, and of those around it, that is needed from now on.
  const auto need = [&](std::size_t iteration, std::vector<std::size_t>& into) {
    for (; iteration != kNobody && !needed[iteration]; iteration = tree.around(iteration)) {
      needed[iteration] = true;
      into.insert(into.end(), tree.events(iteration).begin(), tree.events(iteration).end());
    }
  };
  for (const trace::ThreadId thread : failing_threads(trace)) {
    need_thread(thread);
    const std::vector<std::size_t> last = last_events(trace, tree, thread);
    events.insert(events.end(), last.begin(), last.end());
    need(tree.open_at_end(thread), events);
  }
  for (int step = 0; step < steps; ++step) {
    std::vector<std::size_t> before;
    for (const std::size_t event : events) {
      for (const std::vector<std::size_t>& writer : writers_of_step) {
        if (writer[event] == kNobody) continue;
        need_thread(trace.events[writer[event]].thread);
        need(tree.of_event(writer[event]), before);
      }
    }
    events = std::move(before);
  }
  Neighbourhood result;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    if (needed[i]) result.iterations.push_back(tree[i]);
  }
  std::sort(result.iterations.begin(), result.iterations.end());
  result.threads.assign(threads.begin(), threads.end());
  return result;
}

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

  const std::vector<std::size_t> writer = writers(trace, Of::Others);
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
