// SPDX-License-Identifier: Apache-2.0
//
// Potential conflict states of any number of runs. Memory: two threads, one of them writes, no lock
// in common (Savage et al., Eraser, 1997), and nothing but locks may order them; a race that
// happens-before confirms in some run is `observed`. Locks, conditions and semaphores: two uses of
// the same object that nothing but locks orders. What is only ever done under one lock is not
// listed as memory: the contention for the lock stands for it.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/conflicts/conflict.h"
#include "trace/trace.h"

namespace heddle::analysis {

class ConflictDetector {
 public:
  /// `run` is the number under which conflicts name it as the one they were first seen in.
  void add(const trace::Trace& trace, std::size_t run);

  /// Each pair of places once: what is most likely to matter first (races and ends of lives that
  /// were observed, then synchronisation, then what only the locks suggest).
  std::vector<Conflict> conflicts() const;
  std::size_t size() const { return found_.size(); }

 private:
  using Key = std::tuple<ConflictKind, std::string, std::string>;  // places, the lesser first
  std::map<Key, Conflict> found_;
  /// Conflicting accesses that a lock keeps apart, by the sites where each takes it.
  std::map<std::pair<std::string, std::string>, std::vector<FoundPair>> protected_;
};

}  // namespace heddle::analysis
