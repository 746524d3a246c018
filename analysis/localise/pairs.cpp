// SPDX-License-Identifier: Apache-2.0
#include "analysis/localise/pairs.h"

#include <algorithm>

#include "trace/words.h"

namespace heddle::analysis {
namespace {

constexpr std::size_t kMaxIterations = 64;  // of one pair that are kept apart in one execution
constexpr std::size_t kNoEvent = ~std::size_t{0};

/// What the next access to some bytes has to know.
struct Cell {
  struct Last {
    trace::ThreadId thread;
    std::size_t event;
    bool writes;
  };
  std::uint64_t end = 0;
  std::size_t write = kNoEvent;  // the last one
  std::vector<Last> since;       // the last access of each thread since, the write's included

  const Last* of(trace::ThreadId thread) const {
    for (const Last& last : since) {
      if (last.thread == thread) return &last;
    }
    return nullptr;
  }
};

using Cells = std::map<std::uint64_t, Cell>;  // by first byte; they do not overlap

/// Makes cell borders at `at`.
void split(Cells& cells, std::uint64_t at) {
  auto next = cells.upper_bound(at);
  if (next == cells.begin()) return;
  const auto cell = std::prev(next);
  if (cell->first == at || cell->second.end <= at) return;
  Cell right = cell->second;
  cell->second.end = at;
  cells.emplace(at, std::move(right));
}

class Collector {
 public:
  explicit Collector(const Accesses& accesses)
      : accesses_(accesses), memory_(accesses.trace().objects.size()) {}

  std::vector<PairInstance> run() {
    for (std::size_t i = 0; i < accesses_.trace().events.size(); ++i) {
      const Role role = accesses_.role(i);
      if (role != Role::None) access(i, writes(role));
    }
    return std::move(pairs_);
  }

 private:
  void access(std::size_t event, bool writes) {
    const trace::Event& it = accesses_.trace().events[event];
    Cells& cells = memory_[it.object];
    const std::uint64_t begin = it.offset;
    const std::uint64_t end = begin + accesses_.bytes(event);
    split(cells, begin);
    split(cells, end);
    const std::size_t known = pairs_.size();
    std::uint64_t at = begin;
    for (auto cell = cells.lower_bound(begin); cell != cells.end() && cell->first < end; ++cell) {
      if (at < cell->first) cells.emplace(at, fresh(cell->first, event, writes));
      visit(cell->second, event, writes, known);
      at = cell->second.end;
    }
    if (at < end) cells.emplace(at, fresh(end, event, writes));
  }

  Cell fresh(std::uint64_t end, std::size_t event, bool writes) const {
    Cell cell;
    cell.end = end;
    if (writes) cell.write = event;
    cell.since.push_back({accesses_.owner(event), event, writes});
    return cell;
  }

  void visit(Cell& cell, std::size_t event, bool writes, std::size_t known) {
    const trace::ThreadId thread = accesses_.owner(event);
    const Cell::Last* const own = cell.of(thread);
    if (writes) {
      for (const Cell::Last& last : cell.since) {
        if (last.thread == thread) continue;
        // The thread has read what `last` wrote: that pair says more.
        if (last.writes && own != nullptr && own->event > last.event) continue;
        add(last.event, event, known);
      }
      cell.write = event;
      cell.since.assign(1, {thread, event, true});
      return;
    }
    if (cell.write != kNoEvent && own == nullptr) add(cell.write, event, known);
    for (Cell::Last& last : cell.since) {
      if (last.thread != thread) continue;
      last = {thread, event, false};
      return;
    }
    cell.since.push_back({thread, event, false});
  }

  /// `known`: the pairs before this event; one event may meet another in several cells.
  void add(std::size_t first, std::size_t second, std::size_t known) {
    if (accesses_.before(first, second)) return;
    const PairInstance pair{first, second};
    if (std::find(pairs_.begin() + static_cast<std::ptrdiff_t>(known), pairs_.end(), pair) ==
        pairs_.end()) {
      pairs_.push_back(pair);
    }
  }

  const Accesses& accesses_;
  std::vector<Cells> memory_;
  std::vector<PairInstance> pairs_;
};

}  // namespace

std::vector<PairInstance> immediate_pairs(const Accesses& accesses) {
  return Collector(accesses).run();
}

const char* to_text(Level level) {
  switch (level) {
    case Level::Pc: return "PC";
    case Level::Tid: return "TID";
    case Level::Loop: break;
  }
  return "LOOP";
}

std::uint32_t PairTable::intern(const PairName& name) {
  const auto [entry, is_new] =
      ids_.emplace(std::pair{name.first, name.second}, static_cast<std::uint32_t>(names_.size()));
  if (!is_new) return entry->second;
  names_.push_back(name);
  std::pair<AccessName, AccessName> places{name.first, name.second};
  places.first.thread.clear();
  places.second.thread.clear();
  const auto next = static_cast<std::uint32_t>(pc_ids_.size());
  pc_of_.push_back(pc_ids_.emplace(std::move(places), next).first->second);
  return entry->second;
}

std::uint32_t PairTable::reversed(std::uint32_t id) {
  return intern({names_[id].second, names_[id].first, names_[id].variable});
}

RunPairs collect_pairs(const Accesses& accesses, const std::vector<PairInstance>& instances,
                       PairTable& table) {
  const trace::Trace& trace = accesses.trace();
  const auto side = [&](std::size_t event) {
    const trace::Event& it = trace.events[event];
    return std::tuple{it.site, accesses.owner(event), accesses.role(event)};
  };
  const auto name = [&](std::size_t event) {
    const auto& [site, thread, role] = side(event);
    return AccessName{site == trace::kNone ? "<unknown>" : trace.sites[site].key,
                      trace.threads[thread].path, role};
  };
  std::map<std::pair<decltype(side(0)), decltype(side(0))>, std::uint32_t> local;
  RunPairs result;
  for (const PairInstance& instance : instances) {
    const auto [entry, is_new] = local.try_emplace({side(instance.first), side(instance.second)});
    if (is_new) {
      const trace::Event& it = trace.events[instance.second];
      entry->second = table.intern({name(instance.first), name(instance.second),
                                    trace::memory_name(trace, it.object, it.offset)});
    }
    const std::uint32_t id = entry->second;
    const auto [place, first_seen] = result.by_id.emplace(id, result.seen.size());
    if (first_seen) {
      result.by_pc[table.pc(id)].push_back(result.seen.size());
      result.seen.push_back({id, instance, {}});
    }
    auto& iterations = result.seen[place->second].iterations;
    const std::pair now{accesses.occurrence(instance.first), accesses.occurrence(instance.second)};
    if (iterations.size() < kMaxIterations &&
        std::find(iterations.begin(), iterations.end(), now) == iterations.end()) {
      iterations.push_back(now);
    }
  }
  return result;
}

}  // namespace heddle::analysis
