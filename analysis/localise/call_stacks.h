// SPDX-License-Identifier: Apache-2.0
//
// In which functions an event was done: from the call steps of an execution, which also tell of
// functions that exceptions and longjmp leave. What was inlined is in the site itself.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace heddle::analysis {

class CallStacks {
 public:
  explicit CallStacks(const trace::Trace& trace);

  /// The functions the event's thread was in, by their sites, from the outermost. Empty also if the
  /// execution does not tell, or there were more steps than could be recorded.
  std::vector<trace::SiteIndex> at(std::size_t event) const;

 private:
  struct Call {
    std::uint32_t caller = 0;  // 0: none
    trace::SiteIndex function = trace::kNone;
  };
  std::vector<Call> calls_{Call{}};
  std::vector<std::uint32_t> at_;  // by event; empty: none tells
};

}  // namespace heddle::analysis
