// SPDX-License-Identifier: Apache-2.0
//
// In which rounds of which loops an event was done (LOCON, 5): from the loop steps of an execution,
// which also tell of loops that break, exceptions and longjmp leave.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "trace/trace.h"

namespace heddle::analysis {

/// The loops around each event of one execution. A stack is its innermost round; rounds that are
/// alike share what is around them.
class LoopStacks {
 public:
  struct Round {
    std::uint32_t around = 0;              // the round this loop was entered in; 0: none
    trace::SiteIndex loop = trace::kNone;  // by its header
    std::uint32_t entry = 0;               // which of the times that round entered it, from 1
    std::uint32_t iteration = 0;           // from 1
  };

  explicit LoopStacks(const trace::Trace& trace);

  /// The innermost round of the event's thread; 0: it is in no loop. kUnknown: there were more
  /// steps than could be recorded.
  std::uint32_t at(std::size_t event) const { return at_[event]; }
  static constexpr std::uint32_t kUnknown = ~std::uint32_t{0};

  const Round& round(std::uint32_t number) const { return rounds_[number]; }
  /// From the outermost loop to the innermost.
  std::vector<Round> stack(std::uint32_t number) const;

 private:
  std::vector<Round> rounds_{Round{}};
  std::vector<std::uint32_t> at_;
};

/// Numbers for the loop stacks of many executions.
class RoundTable {
 public:
  /// `loop` is a name that holds in every execution.
  std::uint32_t intern(std::uint32_t around, const std::string& loop, std::uint32_t entry,
                       std::uint32_t iteration);
  /// Of two accesses of one thread: whether they were done in the same round of all loops that both
  /// are in (0), or the first in an earlier (-1) or later one (1) of the outermost that tells.
  int compare(std::uint32_t x, std::uint32_t y) const;

 private:
  struct Round {
    std::uint32_t around = 0;
    std::uint32_t loop = 0;
    std::uint32_t entry = 0;
    std::uint32_t iteration = 0;
    auto operator<=>(const Round&) const = default;
  };
  std::vector<Round> path(std::uint32_t number) const;

  std::map<std::string, std::uint32_t> loops_;
  std::map<Round, std::uint32_t> numbers_;
  std::vector<Round> rounds_{Round{}};
};

}  // namespace heddle::analysis
