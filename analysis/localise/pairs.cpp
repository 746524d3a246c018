// SPDX-License-Identifier: Apache-2.0
#include "analysis/localise/pairs.h"

#include <algorithm>

#include "trace/words.h"

namespace heddle::analysis {
namespace {

constexpr std::size_t kMaxRounds = 64;  // of one pair that are kept apart in one execution
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

PairNames::PairNames(const Accesses& accesses, PairTable& table)
    : accesses_(accesses), table_(table) {}

std::size_t PairNames::Hash::operator()(
    const std::pair<std::uint64_t, std::uint64_t>& sides) const {
  return abi::path_hash(sides.first, sides.second);
}

/// Site, thread and role in one number.
std::uint64_t PairNames::side(std::size_t event) const {
  const trace::Event& it = accesses_.trace().events[event];
  return std::uint64_t{it.site} << 32 | std::uint64_t{accesses_.owner(event)} << 2 |
         static_cast<std::uint64_t>(accesses_.role(event));
}

AccessName PairNames::name(std::size_t event) const {
  const trace::Trace& trace = accesses_.trace();
  const trace::SiteIndex site = trace.events[event].site;
  return {site == trace::kNone ? "<unknown>" : trace.sites[site].key,
          trace.threads[accesses_.owner(event)].path, accesses_.role(event)};
}

std::uint32_t PairNames::id(const PairInstance& instance) {
  const auto [entry, is_new] = ids_.try_emplace({side(instance.first), side(instance.second)});
  if (is_new) {
    const trace::Event& it = accesses_.trace().events[instance.second];
    entry->second = table_.intern({name(instance.first), name(instance.second),
                                   trace::memory_name(accesses_.trace(), it.object, it.offset)});
  }
  return entry->second;
}

Rounds PairNames::rounds(const PairInstance& instance) {
  return {round(instance.first), round(instance.second)};
}

std::uint32_t PairNames::round(std::size_t event) {
  const std::uint32_t local = accesses_.round(event);
  if (table_.tells_loops() && local != LoopStacks::kUnknown) return round_number(local);
  return table_.rounds().intern(0, "<visits>", 1, accesses_.occurrence(event));
}

std::uint32_t PairNames::round_number(std::uint32_t local) {
  if (local == 0) return 0;
  if (local >= numbers_.size()) numbers_.resize(local + 1);
  if (numbers_[local] == 0) {
    const LoopStacks::Round& round = accesses_.loops().round(local);
    const std::uint32_t around = round_number(round.around);
    numbers_[local] = 1 + table_.rounds().intern(around, accesses_.trace().sites[round.loop].key,
                                                 round.entry, round.iteration);
  }
  return numbers_[local] - 1;
}

RunPairs collect_pairs(const Accesses& accesses, const std::vector<PairInstance>& instances,
                       PairTable& table) {
  PairNames names(accesses, table);
  RunPairs result;
  for (const PairInstance& instance : instances) {
    const std::uint32_t id = names.id(instance);
    const auto [place, first_seen] = result.by_id.emplace(id, result.seen.size());
    if (first_seen) {
      result.by_pc[table.pc(id)].push_back(result.seen.size());
      result.seen.push_back({id, instance, {}});
    }
    std::vector<Rounds>& rounds = result.seen[place->second].rounds;
    if (rounds.size() == kMaxRounds) continue;
    const Rounds now = names.rounds(instance);
    if (std::find(rounds.begin(), rounds.end(), now) == rounds.end()) rounds.push_back(now);
  }
  return result;
}

}  // namespace heddle::analysis
