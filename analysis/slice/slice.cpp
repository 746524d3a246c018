// SPDX-License-Identifier: Apache-2.0
#include "analysis/slice/slice.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "abi/names.h"
#include "analysis/slice/event_dependences.h"
#include "base/error.h"

namespace heddle::analysis {
namespace {

using abi::Access;
using trace::Event;
using trace::EventKind;
using trace::Trace;

/// Goes backwards: whatever an event in the slice depends on lies before it.
class Slicer {
 public:
  Slicer(const Trace& trace, const Code* code)
      : trace_(trace),
        code_(code),
        owner_(owners(trace)),
        threads_(trace.threads.size()),
        dependences_(code != nullptr ? dependences_of_events(trace)
                                     : dependences_between_threads(trace)) {
    result_.contains.assign(trace.events.size(), false);
  }

  /// What `thread` was about to do at the end.
  void need(trace::ThreadId thread, trace::SiteIndex site) { reach(owner_[thread], site); }

  Slice up_to(std::size_t at) {
    result_.at = at;
    result_.contains[at] = true;
    return add_before(at + 1);
  }

  Slice go_on(std::size_t end, SliceSoFar&& so_far) {
    result_ = std::move(so_far.slice);
    for (trace::ThreadId i = 0; i < so_far.threads.size(); ++i) {
      threads_[i].reached = so_far.threads[i].is_reached;
      threads_[i].whole = so_far.threads[i].is_whole;
      for (const std::uint32_t instruction : so_far.threads[i].instructions) {
        need_instruction(threads_[i], instruction);
      }
    }
    return add_before(end);
  }

 private:
  Slice add_before(std::size_t end) {
    std::size_t next = dependences_.size();
    for (std::size_t i = end; i > 0; --i) {
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
    need_instruction(thread, instruction);
  }

  void need_instruction(Thread& thread, std::uint32_t instruction) {
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

std::vector<bool> at_same_memory(const Trace& trace, const Slice& slice) {
  std::set<std::pair<trace::ObjectIndex, std::uint64_t>> cells;
  const auto for_each_cell = [&](const Event& event, auto use) {
    if (event.object == trace::kNone || abi::access_of(event.kind) == Access::None) return;
    const std::uint64_t end = event.offset + std::max<std::uint64_t>(event.size, 1);
    for (std::uint64_t cell = event.offset / kCellBytes; cell * kCellBytes < end; ++cell) {
      use(std::pair(event.object, cell));
    }
  };
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    if (!slice.contains[i]) continue;
    for_each_cell(trace.events[i], [&](const auto& cell) { cells.insert(cell); });
  }
  std::vector<bool> result(trace.events.size(), false);
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    if (slice.contains[i]) continue;
    for_each_cell(trace.events[i], [&](const auto& cell) {
      if (cells.contains(cell)) result[i] = true;
    });
  }
  return result;
}

Slice slice_before(std::size_t end, SliceSoFar&& so_far, const Trace& trace, const Code& code) {
  return Slicer(trace, &code).go_on(end, std::move(so_far));
}

}  // namespace heddle::analysis
