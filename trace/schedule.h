// SPDX-License-Identifier: Apache-2.0
//
// The decisions that reproduce a run: versioned text that a person can read and diff. It names
// threads by birth and sites by key, so it survives rebuilds that leave those sites alone.
// File format: FORMAT.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "abi/channel.h"

namespace heddle::trace {

/// Before `thread` does its `occurrence`-th event at `site` (its `ordinal`-th event in all): go on
/// with `target` (Thread), or answer `value` out of `bound` (Value).
struct Decision {
  abi::DecisionKind kind = abi::DecisionKind::Thread;
  std::string thread;
  std::string site;
  std::uint32_t occurrence = 1;
  std::uint64_t ordinal = 1;
  abi::EventKind pending = abi::EventKind::None;  // the expected event: a check, not an instruction
  bool preemption = false;                        // the thread could have gone on
  std::string target;
  std::uint32_t value = 0;
  std::uint32_t bound = 0;
  std::string where;  // "counter.c:14:9", for the reader only
  bool operator==(const Decision&) const = default;
};

/// Of `thread`'s iterations at `site` (an iteration_begin), those from `first` to `last`.
struct SkippedIterations {
  static constexpr std::uint32_t kNoEnd = ~std::uint32_t{0};  // as `last`: and all that follow
  std::string thread;
  std::string site;
  std::uint32_t first = 1;
  std::uint32_t last = 1;
  std::uint16_t creates = 0;  // threads, in each of them: those created later keep their names
  bool at_once = false;       // within them it is not asked whether the loop goes on
  bool operator==(const SkippedIterations&) const = default;
};

/// Whether the iterations are those of a loop as the compiler sees it, rather than of a block that
/// somebody has annotated: only the variant `repeats` can leave them out.
inline bool is_loop(std::string_view site) {
  return site.find(".loop.") != std::string_view::npos;
}

struct Schedule {
  std::string program;
  std::string build_id;
  std::string memory_model = "sc";
  std::vector<std::string> arguments;
  std::vector<std::string> absent_threads;  // never started, though their creators go on as if
  std::vector<SkippedIterations> skipped;   // not executed, though the loops around them go on
  std::vector<std::string> overlooked;      // sites: plain accesses there are no events
  std::string ends_with;  // the thread whose failure ends the run; empty: whichever is the first
  std::vector<Decision> decisions;
  bool operator==(const Schedule&) const = default;
};

}  // namespace heddle::trace
