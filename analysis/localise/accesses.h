// SPDX-License-Identifier: Apache-2.0
//
// A trace as localisation reads it: what each event does to memory others can see, by whom, under
// which locks, ordered how by the life of threads, and by which name other executions know it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/localise/call_stacks.h"
#include "analysis/localise/loop_stacks.h"
#include "analysis/oracle.h"
#include "trace/trace.h"

namespace heddle::analysis {

enum class Role : std::uint8_t { None, Read, Write, Update };
inline bool writes(Role role) {
  return role == Role::Write || role == Role::Update;
}
/// "R", "W", "RW".
const char* to_text(Role role);

/// Uses of a synchronisation object read it, ending its life writes it; a notification writes what
/// a wait for it reads.
Role role_of(const trace::Event& event);

/// What one thread did between taking a lock and letting it go.
struct Section {
  trace::ObjectIndex lock = 0;
  std::uint64_t offset = 0;
  std::size_t acquired = 0;  // event
  std::size_t released = 0;  // event; one past the end of the trace if never
};

class Accesses {
 public:
  /// Keeps a reference to `trace`.
  explicit Accesses(const trace::Trace& trace);

  const trace::Trace& trace() const { return trace_; }
  /// Role::None also for stores that are still in a store buffer: their flush is the write.
  Role role(std::size_t event) const;
  /// Whose access it is: a flusher's are its owner's.
  trace::ThreadId owner(std::size_t event) const { return owners_[trace_.events[event].thread]; }
  std::uint64_t bytes(std::size_t event) const;

  /// The store that a flush made visible; every other event is itself.
  std::size_t origin(std::size_t event) const;
  /// The loops around the access, for a flush those around its store; LoopStacks::kUnknown too.
  std::uint32_t round(std::size_t event) const { return loops_.at(origin(event)); }
  const LoopStacks& loops() const { return loops_; }
  const CallStacks& calls() const { return calls_; }

  /// Whether program order, thread creation and joining put x before y.
  bool before(std::size_t x, std::size_t y) const;

  /// A flush is its flusher's k-th of a store at that site, whoever carried it out.
  Point point(std::size_t event) const;
  /// Where the strategy was asked before the event: flushers decide at a place of their own, and
  /// what a thread flushes itself comes with its next operation (trace/FORMAT.md).
  Point decision_point(std::size_t event) const;
  std::uint32_t occurrence(std::size_t event) const { return occurrences_[event]; }
  std::optional<std::size_t> find(const Point& point) const;
  /// What the thread does next, or nothing when the run ended before.
  std::optional<std::size_t> next_of_thread(std::size_t event) const;

  /// The critical sections `event` is in, from the outermost; what ends one is still in it.
  std::vector<Section> sections(std::size_t event) const;

 private:
  using Clock = std::vector<std::size_t>;  // by thread: how many events of the trace are known of
  void find_flushers();
  void match_flushes();
  void number_events();
  trace::ThreadId namesake(const trace::Event& event) const;
  void order_threads();
  void find_sections();

  const trace::Trace& trace_;
  bool buffers_ = false;
  std::vector<trace::ThreadId> owners_;
  std::vector<trace::ThreadId> flushers_;      // by thread; itself if it has none
  std::map<std::size_t, std::size_t> stores_;  // by flush
  LoopStacks loops_;
  CallStacks calls_;
  std::vector<std::uint32_t> occurrences_;
  std::vector<std::uint32_t> next_;  // 0: none
  std::map<std::string, trace::ThreadId> threads_;
  std::map<std::string, trace::SiteIndex> sites_;
  std::vector<std::vector<std::uint32_t>> visits_;      // by thread and site: a number, 0 is none
  std::vector<std::vector<std::uint32_t>> visited_by_;  // by that number: the events, in order
  std::vector<std::vector<std::pair<std::size_t, Clock>>> clocks_;  // by thread, at each change
  std::vector<std::vector<Section>> sections_;                      // by thread
};

}  // namespace heddle::analysis
