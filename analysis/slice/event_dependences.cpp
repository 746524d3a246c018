// SPDX-License-Identifier: Apache-2.0
#include "analysis/slice/event_dependences.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "abi/names.h"
#include "base/error.h"

namespace heddle::analysis {
namespace {

using abi::Access;
using trace::Event;
using trace::EventKind;
using trace::Trace;

constexpr std::size_t kNone = ~std::size_t{0};

using Cell = std::pair<trace::ObjectIndex, std::uint64_t>;

/// An event, and which bytes of a cell it accessed: from `first` to before `end`.
struct Use {
  std::size_t event;
  std::uint64_t first;
  std::uint64_t end;
  bool overlaps(const Use& other) const { return first < other.end && other.first < end; }
  bool covers(const Use& other) const { return first <= other.first && other.end <= end; }
};

/// What happened last to a cell.
struct Uses {
  std::vector<Use> writes;  // those of which something is left
  std::vector<Use> reads;   // of what is there since, the last of each thread
  std::size_t sync = kNone;
};

class Builder {
 public:
  /// `within`: also what a thread reads of its own.
  explicit Builder(const Trace& trace, bool within = false)
      : trace_(trace), within_(within), created_(trace.threads.size(), kNone), ended_(created_) {}

  std::vector<Dependence> build() {
    for (std::size_t i = 0; i < trace_.events.size(); ++i) {
      const Event& event = trace_.events[i];
      threads(i, event);
      if (event.object == trace::kNone) continue;
      switch (abi::access_of(event.kind)) {
        case Access::None: break;
        case Access::Sync: synchronise(i, event); break;
        case Access::Read: access(i, event, true, false); break;
        case Access::Write: access(i, event, false, true); break;
        case Access::Update: access(i, event, true, true); break;
      }
    }
    return std::move(result_);
  }

 private:
  void add(std::size_t from, std::size_t to, DependenceKind kind) {
    if (from == kNone) return;
    const bool own = trace_.events[from].thread == trace_.events[to].thread;
    if (own && !(within_ && kind == DependenceKind::WriteRead)) return;
    result_.push_back({from, to, kind});
  }

  void threads(std::size_t i, const Event& event) {
    const bool names_thread = event.value < created_.size();
    switch (event.kind) {
      case EventKind::ThreadCreate:
        if (names_thread) created_[event.value] = i;
        break;
      case EventKind::ThreadStart: add(created_[event.thread], i, DependenceKind::Fork); break;
      case EventKind::ThreadExit: ended_[event.thread] = i; break;
      case EventKind::ThreadJoin:
      case EventKind::ThreadTryjoin:
        if (names_thread) add(ended_[event.value], i, DependenceKind::Join);
        break;
      default: break;
    }
  }

  void synchronise(std::size_t i, const Event& event) {
    Uses& uses = uses_[{event.object, event.offset / kCellBytes}];
    add(uses.sync, i, DependenceKind::Synchronisation);
    uses.sync = i;
  }

  /// A whole allocation is freed.
  std::uint64_t bytes_of(const Event& event) const {
    const std::uint64_t bytes = event.kind == EventKind::HeapFree
                                    ? trace_.objects[event.object].size - event.offset
                                    : event.size;
    return std::max<std::uint64_t>(bytes, 1);
  }

  void access(std::size_t i, const Event& event, bool reads, bool writes) {
    const std::uint64_t end = event.offset + bytes_of(event);
    for (std::uint64_t cell = event.offset / kCellBytes; cell * kCellBytes < end; ++cell) {
      const std::uint64_t begin = cell * kCellBytes;
      const Use use{i, std::max(event.offset, begin) - begin, std::min(end - begin, kCellBytes)};
      access(uses_[{event.object, cell}], use, reads, writes);
    }
  }

  void access(Uses& uses, const Use& use, bool reads, bool writes) {
    for (const Use& write : uses.writes) {
      if (!write.overlaps(use)) continue;
      add(write.event, use.event, reads ? DependenceKind::WriteRead : DependenceKind::WriteWrite);
    }
    const auto is_covered = [&](const Use& earlier) { return use.covers(earlier); };
    if (writes) {
      for (const Use& read : uses.reads) {
        if (read.overlaps(use)) add(read.event, use.event, DependenceKind::ReadWrite);
      }
      std::erase_if(uses.reads, is_covered);
      std::erase_if(uses.writes, is_covered);
      uses.writes.push_back(use);
    } else {
      std::erase_if(uses.reads, [&](const Use& read) {
        return is_covered(read) &&
               trace_.events[read.event].thread == trace_.events[use.event].thread;
      });
      uses.reads.push_back(use);
    }
  }

  const Trace& trace_;
  const bool within_;
  std::vector<std::size_t> created_;  // by thread: the event that created it
  std::vector<std::size_t> ended_;
  std::map<Cell, Uses> uses_;
  std::vector<Dependence> result_;
};

}  // namespace

const char* name_of(DependenceKind kind) {
  switch (kind) {
    case DependenceKind::Synchronisation: return "synchronisation";
    case DependenceKind::Fork: return "fork";
    case DependenceKind::Join: return "join";
    case DependenceKind::WriteRead: return "write-read";
    case DependenceKind::ReadWrite: return "read-write";
    case DependenceKind::WriteWrite: return "write-write";
  }
  throw defect("a dependence has no name");
}

std::vector<Dependence> dependences_between_threads(const Trace& trace) {
  return Builder(trace).build();
}

std::vector<Dependence> dependences_of_events(const Trace& trace) {
  return Builder(trace, /*within=*/true).build();
}

std::vector<trace::ThreadId> owners(const Trace& trace) {
  std::map<std::string, trace::ThreadId> by_path;
  for (trace::ThreadId i = 0; i < trace.threads.size(); ++i) by_path[trace.threads[i].path] = i;
  std::vector<trace::ThreadId> result(trace.threads.size());
  for (trace::ThreadId i = 0; i < result.size(); ++i) {
    const std::string& path = trace.threads[i].path;
    const auto owner = by_path.find(path.substr(0, path.find('~')));
    result[i] = owner == by_path.end() ? i : owner->second;
  }
  return result;
}

}  // namespace heddle::analysis
