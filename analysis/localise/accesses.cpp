// SPDX-License-Identifier: Apache-2.0
#include "analysis/localise/accesses.h"

#include <algorithm>
#include <deque>
#include <tuple>

#include "abi/locks.h"
#include "abi/names.h"

namespace heddle::analysis {
namespace {

using trace::Event;
using trace::EventKind;

constexpr const char* kFlushSite = "<flush>";
constexpr const char* kUnknownSite = "<unknown>";

bool is_flusher(const std::string& path) {
  return path.ends_with('~');
}

}  // namespace

const char* to_text(Role role) {
  switch (role) {
    case Role::Read: return "R";
    case Role::Write: return "W";
    case Role::Update: return "RW";
    case Role::None: break;
  }
  return "-";
}

Role role_of(const Event& event) {
  if (event.object == trace::kNone) return Role::None;
  switch (event.kind) {
    case EventKind::AtomicCas: return event.value == event.aux ? Role::Read : Role::Update;
    case EventKind::CondSignal:
    case EventKind::CondBroadcast:
    case EventKind::MutexDestroy:
    case EventKind::CondDestroy:
    case EventKind::SemDestroy:
    case EventKind::RwlockDestroy:
    case EventKind::BarrierDestroy: return Role::Write;
    default: break;
  }
  switch (abi::access_of(event.kind)) {
    case abi::Access::Read: return Role::Read;
    case abi::Access::Write: return Role::Write;
    case abi::Access::Update: return Role::Update;
    case abi::Access::Sync: return Role::Read;
    case abi::Access::None: break;
  }
  return Role::None;
}

Accesses::Accesses(const trace::Trace& trace) : trace_(trace), loops_(trace), calls_(trace) {
  const auto model = trace.header.options.find("memory_model");
  buffers_ = model != trace.header.options.end() && model->second != "sc";
  find_flushers();
  for (trace::SiteIndex i = 0; i < trace.sites.size(); ++i) sites_.emplace(trace.sites[i].key, i);
  if (buffers_) match_flushes();
  number_events();
  order_threads();
  find_sections();
}

void Accesses::find_flushers() {
  for (trace::ThreadId i = 0; i < trace_.threads.size(); ++i) {
    const trace::Thread& thread = trace_.threads[i];
    threads_.emplace(thread.path, i);
    owners_.push_back(is_flusher(thread.path) ? thread.parent : i);
    flushers_.push_back(i);
    flushers_[owners_[i]] = i;
  }
}

/// Stores of one site to one place become visible in the order in which they were done.
void Accesses::match_flushes() {
  using Place = std::tuple<trace::ThreadId, trace::SiteIndex, trace::ObjectIndex, std::uint64_t>;
  std::map<Place, std::deque<std::size_t>> pending;
  for (std::size_t i = 0; i < trace_.events.size(); ++i) {
    const Event& event = trace_.events[i];
    const Place place{owners_[event.thread], event.site, event.object, event.offset};
    if (event.kind == EventKind::Store || event.kind == EventKind::AtomicStore) {
      pending[place].push_back(i);
    } else if (event.kind == EventKind::Flush) {
      std::deque<std::size_t>& stores = pending[place];
      if (stores.empty()) continue;
      stores_.emplace(i, stores.front());
      stores.pop_front();
    }
  }
}

std::size_t Accesses::origin(std::size_t event) const {
  if (stores_.empty()) return event;
  const auto store = stores_.find(event);
  return store == stores_.end() ? event : store->second;
}

Role Accesses::role(std::size_t event) const {
  const Event& it = trace_.events[event];
  const bool stores = it.kind == EventKind::Store || it.kind == EventKind::AtomicStore;
  if (buffers_ && stores && it.object != trace::kNone &&
      trace_.objects[it.object].name != "stack " + trace_.threads[it.thread].path) {
    return Role::None;
  }
  return role_of(it);
}

std::uint64_t Accesses::bytes(std::size_t event) const {
  const Event& it = trace_.events[event];
  if (it.kind == EventKind::HeapFree) {
    return std::max<std::uint64_t>(1, trace_.objects[it.object].size);
  }
  return std::max<std::uint32_t>(1, it.size);
}

/// Under whose name an event is counted.
trace::ThreadId Accesses::namesake(const Event& event) const {
  return event.kind == EventKind::Flush ? flushers_[owners_[event.thread]] : event.thread;
}

void Accesses::number_events() {
  const std::size_t places = trace_.sites.size() + 1;  // and no place
  std::vector<std::size_t> last(trace_.threads.size(), ~std::size_t{0});
  next_.assign(trace_.events.size(), 0);
  occurrences_.reserve(trace_.events.size());
  visits_.resize(trace_.threads.size());
  visited_by_.emplace_back();
  for (std::size_t i = 0; i < trace_.events.size(); ++i) {
    const Event& event = trace_.events[i];
    if (last[event.thread] != ~std::size_t{0}) {
      next_[last[event.thread]] = static_cast<std::uint32_t>(i);
    }
    last[event.thread] = i;
    std::vector<std::uint32_t>& of_thread = visits_[namesake(event)];
    if (of_thread.empty()) of_thread.resize(places);
    std::uint32_t& number = of_thread[std::min<std::size_t>(event.site, places - 1)];
    if (number == 0) {
      number = static_cast<std::uint32_t>(visited_by_.size());
      visited_by_.emplace_back();
    }
    visited_by_[number].push_back(static_cast<std::uint32_t>(i));
    occurrences_.push_back(static_cast<std::uint32_t>(visited_by_[number].size()));
  }
}

Point Accesses::point(std::size_t event) const {
  const Event& it = trace_.events[event];
  return {trace_.threads[namesake(it)].path,
          it.site == trace::kNone ? kUnknownSite : trace_.sites[it.site].key, occurrences_[event]};
}

Point Accesses::decision_point(std::size_t event) const {
  const auto is_flush = [&](std::size_t i) { return trace_.events[i].kind == EventKind::Flush; };
  const trace::ThreadId thread = trace_.events[event].thread;
  if (owners_[thread] == thread) {
    while (is_flush(event) && next_[event] != 0) event = next_[event];
    return point(event);
  }
  const auto of_flusher = [&](const Event& it) { return it.thread == thread; };
  const auto begin = trace_.events.begin();
  const auto flushes =
      std::count_if(begin, begin + static_cast<std::ptrdiff_t>(event) + 1, of_flusher);
  return {trace_.threads[thread].path, kFlushSite, static_cast<std::uint32_t>(flushes)};
}

std::optional<std::size_t> Accesses::find(const Point& point) const {
  const auto thread = threads_.find(point.thread);
  const auto site = sites_.find(point.site);
  if (thread == threads_.end()) return std::nullopt;
  if (site == sites_.end() && point.site != kUnknownSite) return std::nullopt;
  const std::size_t place = site == sites_.end() ? trace_.sites.size() : site->second;
  const std::vector<std::uint32_t>& of_thread = visits_[thread->second];
  if (of_thread.empty()) return std::nullopt;
  const std::vector<std::uint32_t>& events = visited_by_[of_thread[place]];
  if (point.occurrence == 0 || point.occurrence > events.size()) return std::nullopt;
  return events[point.occurrence - 1];
}

std::optional<std::size_t> Accesses::next_of_thread(std::size_t event) const {
  if (next_[event] == 0) return std::nullopt;
  return next_[event];
}

void Accesses::order_threads() {
  const std::size_t count = trace_.threads.size();
  std::vector<Clock> now(count, Clock(count, 0));
  clocks_.resize(count);
  const auto merge = [&](trace::ThreadId into, const Clock& other, std::size_t at) {
    for (std::size_t i = 0; i < count; ++i) now[into][i] = std::max(now[into][i], other[i]);
    clocks_[into].emplace_back(at, now[into]);
  };
  for (std::size_t i = 0; i < trace_.events.size(); ++i) {
    const Event& event = trace_.events[i];
    const trace::ThreadId thread = owners_[event.thread];
    const bool names_thread = event.value < count;
    if (event.kind == EventKind::ThreadCreate && names_thread) {
      now[thread][thread] = i + 1;
      merge(static_cast<trace::ThreadId>(event.value), now[thread], i);
    } else if ((event.kind == EventKind::ThreadJoin ||
                (event.kind == EventKind::ThreadTryjoin && event.aux == 0)) &&
               names_thread) {
      Clock ended = now[event.value];
      ended[event.value] = i;
      merge(thread, ended, i);
    }
  }
}

bool Accesses::before(std::size_t x, std::size_t y) const {
  const trace::ThreadId of_x = owner(x);
  const trace::ThreadId of_y = owner(y);
  if (of_x == of_y) return x < y;
  const auto& history = clocks_[of_y];
  auto after = std::upper_bound(history.begin(), history.end(), y,
                                [](std::size_t at, const auto& entry) { return at < entry.first; });
  return after != history.begin() && std::prev(after)->second[of_x] > x;
}

void Accesses::find_sections() {
  const std::size_t end = trace_.events.size();
  sections_.resize(trace_.threads.size());
  std::vector<std::vector<std::size_t>> open(trace_.threads.size());  // indices of sections
  for (std::size_t i = 0; i < end; ++i) {
    const Event& event = trace_.events[i];
    std::vector<Section>& all = sections_[event.thread];
    std::vector<std::size_t>& held = open[event.thread];
    switch (abi::locking_of(event.kind)) {
      case abi::Locking::None: break;
      case abi::Locking::Takes:
      case abi::Locking::Shares:
        if (!abi::acquires_lock(event.kind, event.value)) break;
        held.push_back(all.size());
        all.push_back({event.object, event.offset, i, end});
        break;
      case abi::Locking::Waits:  // lets go of its mutex, which is nearly always the newest
        if (!held.empty()) {
          all[held.back()].released = i;
          held.pop_back();
        }
        break;
      case abi::Locking::Releases:
        for (std::size_t k = held.size(); k-- > 0;) {
          Section& section = all[held[k]];
          if (section.lock != event.object || section.offset != event.offset) continue;
          section.released = i;
          held.erase(held.begin() + static_cast<std::ptrdiff_t>(k));
          break;
        }
        break;
    }
  }
}

std::vector<Section> Accesses::sections(std::size_t event) const {
  std::vector<Section> result;
  for (const Section& section : sections_[owner(event)]) {
    if (section.acquired < event && event <= section.released) result.push_back(section);
  }
  return result;
}

}  // namespace heddle::analysis
