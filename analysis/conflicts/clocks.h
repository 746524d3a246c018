// SPDX-License-Identifier: Apache-2.0
//
// What happens before what in a run (Lamport), event by event: by the life of threads, semaphores,
// conditions, barriers and atomic variables and, where asked for, by locks. Without locks it is the
// order that another schedule cannot turn round merely by giving a lock to somebody else first.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "trace/trace.h"

namespace heddle::analysis {

enum class LockEdges : bool { Ignored, Counted };

class Clocks {
 public:
  /// Keeps a reference to `trace`.
  Clocks(const trace::Trace& trace, LockEdges locks);

  /// Takes the next event; they must come in order.
  void advance(std::size_t event);
  /// Whether what `thread` does next comes after the event `event` of `other` in any case.
  bool knows(trace::ThreadId thread, trace::ThreadId other, std::size_t event) const {
    return now_[thread][other] > event;
  }

 private:
  using Clock = std::vector<std::size_t>;  // by thread: events before this one are known
  using Place = std::pair<trace::ObjectIndex, std::uint64_t>;

  void learn(trace::ThreadId thread, const Clock& from);
  void learn(trace::ThreadId thread, const std::map<Place, Clock>& published, Place from);
  void publish(trace::ThreadId thread, std::map<Place, Clock>& published, Place to);
  struct Held {
    Place place;
    bool is_shared = false;
  };
  void acquire(const trace::Event& event, Place place, bool is_shared);
  void release(trace::ThreadId thread, std::vector<Held>::iterator lock);
  void advance_lock(const trace::Event& event, Place place);

  const trace::Trace& trace_;
  const bool counts_locks_;
  std::vector<Clock> now_;
  std::map<Place, Clock> objects_;  // semaphores, barriers, conditions, once controls, futexes
  std::map<Place, Clock> atomics_;
  std::map<Place, Clock> released_;
  std::map<Place, Clock> read_released_;  // by those who only read: writers come after them
  std::vector<Place> waits_at_;           // by thread: its condition, object kNone: none
  std::vector<std::vector<Held>> held_;   // by thread, the newest last
};

}  // namespace heddle::analysis
