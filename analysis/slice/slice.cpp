// SPDX-License-Identifier: Apache-2.0
#include "analysis/slice/slice.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "abi/names.h"
#include "base/error.h"

namespace heddle::analysis {
namespace {

using abi::Access;
using trace::Event;
using trace::EventKind;
using trace::Trace;

constexpr std::size_t kNone = ~std::size_t{0};
constexpr std::uint64_t kCellBytes = 8;

using Cell = std::pair<trace::ObjectIndex, std::uint64_t>;

/// What happened last to a piece of memory.
struct Uses {
  std::size_t write = kNone;
  std::vector<std::size_t> reads;  // since then, the last of each thread
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

  void access(std::size_t i, const Event& event, bool reads, bool writes) {
    // A whole allocation is freed whatever its size in cells.
    const std::uint64_t bytes = std::max<std::uint64_t>(event.size, 1);
    const std::uint64_t last = (event.offset + bytes - 1) / kCellBytes;
    for (std::uint64_t cell = event.offset / kCellBytes; cell <= last; ++cell) {
      Uses& uses = uses_[{event.object, cell}];
      if (reads) add(uses.write, i, DependenceKind::WriteRead);
      if (writes) {
        if (!reads) add(uses.write, i, DependenceKind::WriteWrite);
        for (const std::size_t read : uses.reads) add(read, i, DependenceKind::ReadWrite);
        uses.reads.clear();
        uses.write = i;
      } else {
        std::erase_if(uses.reads,
                      [&](std::size_t read) { return trace_.events[read].thread == event.thread; });
        uses.reads.push_back(i);
      }
    }
  }

  const Trace& trace_;
  const bool within_;
  std::vector<std::size_t> created_;  // by thread: the event that created it
  std::vector<std::size_t> ended_;
  std::map<Cell, Uses> uses_;
  std::vector<Dependence> result_;
};

/// Whom an event counts for: what a thread's store buffer does is done for the thread.
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

/// Goes backwards: whatever an event in the slice depends on lies before it.
class Slicer {
 public:
  Slicer(const Trace& trace, const Code* code)
      : trace_(trace),
        code_(code),
        owner_(owners(trace)),
        threads_(trace.threads.size()),
        dependences_(Builder(trace, code != nullptr).build()) {
    result_.contains.assign(trace.events.size(), false);
  }

  /// What `thread` was about to do at the end.
  void need(trace::ThreadId thread, trace::SiteIndex site) { reach(owner_[thread], site); }

  Slice up_to(std::size_t at) {
    result_.at = at;
    result_.contains[at] = true;
    std::size_t next = dependences_.size();
    for (std::size_t i = at + 1; i > 0; --i) {
      const std::size_t event = i - 1;
      while (next > 0 && dependences_[next - 1].to > event) --next;
      if (!result_.contains[event] && !is_needed(trace_.events[event])) continue;
      result_.contains[event] = true;
      ++result_.size;
      reach(trace_.events[event]);
      for (std::size_t d = next; d > 0 && dependences_[d - 1].to == event; --d) {
        follow(dependences_[d - 1]);
      }
    }
    count_instructions();
    return std::move(result_);
  }

 private:
  struct Thread {
    bool reached = false;
    bool whole = false;  // something in the slice is of no known instruction: all may matter to it
    std::optional<ir::DependenceGraph::Closure> needed;
  };

  /// 0: not known.
  std::uint32_t instruction_of(trace::SiteIndex site) const {
    return code_ == nullptr || site == trace::kNone ? 0 : code_->instructions[site];
  }

  void reach(const Event& event) {
    const trace::ThreadId thread = owner_[event.thread];
    threads_[thread].reached = true;
    // A thread begins and ends at no instruction of its own.
    if (event.kind == EventKind::ThreadStart || event.kind == EventKind::ThreadExit) {
      if (code_ != nullptr) return;
    }
    reach(thread, event.site);
  }

  void reach(trace::ThreadId index, trace::SiteIndex site) {
    Thread& thread = threads_[index];
    thread.reached = true;
    const std::uint32_t instruction = instruction_of(site);
    if (instruction == 0) {
      thread.whole = true;
      return;
    }
    if (!thread.needed) thread.needed.emplace(code_->graph);
    thread.needed->add(instruction);
  }

  bool is_needed(const Event& event) const {
    const Thread& thread = threads_[owner_[event.thread]];
    if (!thread.reached) return false;
    const Access access = abi::access_of(event.kind);
    if (thread.whole || access == Access::None || access == Access::Sync) return true;
    const std::uint32_t instruction = instruction_of(event.site);
    return instruction == 0 || (thread.needed && thread.needed->contains(instruction));
  }

  void follow(const Dependence& dependence) {
    const trace::ThreadId from = owner_[trace_.events[dependence.from].thread];
    const trace::ThreadId to = owner_[trace_.events[dependence.to].thread];
    if (from != to && !threads_[from].reached && !result_.contains[dependence.from]) {
      result_.reasons.push_back(dependence);
    }
    result_.contains[dependence.from] = true;
  }

  void count_instructions() {
    if (code_ == nullptr) return;
    ir::DependenceGraph::Closure all(code_->graph);
    for (std::size_t i = 0; i < trace_.events.size(); ++i) {
      const std::uint32_t instruction = instruction_of(trace_.events[i].site);
      if (result_.contains[i] && instruction != 0) all.add(instruction);
    }
    result_.instructions = all.size();
  }

  const Trace& trace_;
  const Code* const code_;
  const std::vector<trace::ThreadId> owner_;
  std::vector<Thread> threads_;
  const std::vector<Dependence> dependences_;
  Slice result_;
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

std::size_t failing_event(const Trace& trace) {
  for (std::size_t i = trace.events.size(); i > 0; --i) {
    const bool failed =
        trace.outcome.thread == trace::kNone || trace.events[i - 1].thread == trace.outcome.thread;
    if (failed) return i - 1;
  }
  return 0;
}

Slice slice(const Trace& trace, std::size_t at, const Code* code) {
  if (at >= trace.events.size()) {
    throw user_error(
        fmt::format("the run has no event {}; it has {}, counted from 0", at, trace.events.size()));
  }
  return Slicer(trace, code).up_to(at);
}

Slice slice_of_failure(const Trace& trace, const Code* code) {
  const std::size_t at = failing_event(trace);
  if (at >= trace.events.size()) return slice(trace, at, code);
  Slicer slicer(trace, code);
  if (trace.outcome.waits.empty()) slicer.need(trace.events[at].thread, trace.outcome.site);
  for (const trace::Wait& wait : trace.outcome.waits) slicer.need(wait.thread, wait.site);
  return slicer.up_to(at);
}

}  // namespace heddle::analysis
