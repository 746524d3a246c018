// SPDX-License-Identifier: Apache-2.0
//
// The smallest execution that still shows the bug, after LEAN (Huang and Zhang, OOPSLA 2012): whole
// threads by hierarchical delta debugging over the thread tree, then context switches.
//
// A step is accepted when the failure keeps its signature under the schedule that is left (I) and
// the program without the removed threads passes when run sequentially (II): else their work is
// what is missing, which is another bug. Where already the original fails sequentially, II cannot
// be asked and the result says so.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/oracle.h"

namespace heddle::analysis {

struct Size {
  std::uint64_t threads = 0;
  std::uint64_t events = 0;
  std::uint64_t switches = 0;
  std::uint64_t preemptions = 0;
  double replay_seconds = 0;
};
Size size_of(const Attempt& attempt);

struct Reduction {
  Attempt best;
  Size before;
  Size after;
  std::vector<std::string> removed_threads;
  std::uint64_t trials = 0;
  bool sequential_passes = true;  // whether criterion II could be asked
  bool stopped = false;           // `stop` said so: `best` is the best so far
};

struct ReduceOptions {
  std::function<bool()> stop;  // asked between trials
  /// What is being done, trials so far, the best so far.
  std::function<void(const char* phase, std::uint64_t trials, const Size& best)> progress;
};

/// Throws a user error when the failure does not come back at all.
Reduction reduce(Oracle& oracle, const Attempt& original, const ReduceOptions& options);

}  // namespace heddle::analysis
