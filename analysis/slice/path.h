// SPDX-License-Identifier: Apache-2.0
//
// An execution's instructions in the order in which they were done, from what the runtime wrote
// down (abi/path_record.h) and the program's code: who was in which invocation of which function,
// what was accessed where, and between which instructions the events of the trace were.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/program_code.h"
#include "trace/trace.h"

namespace heddle::analysis {

inline constexpr std::uint32_t kNowhere = 0xffffffff;

/// One invocation of a function.
struct Activation {
  trace::ThreadId thread = 0;
  std::uint32_t function = kNowhere;
  std::uint32_t parent = kNowhere;  // the activation in which it was called, if any
  std::uint32_t call = 0;           // by which instruction of it; 0: none that is known
  std::uint64_t frame = 0;
  // What of its thread was done before it is in the path, but not how it began.
  bool is_torn = false;
};

struct PathEntry {
  enum class Kind : std::uint8_t {
    Run,        // instructions from `instruction` to before `end`; accesses and calls among them
                // were not executed unless they have entries of their own
    Access,     // `instruction`, of `bytes` at `address`; `event`: its last event, if any
    CallBegin,  // `instruction`
    CallEnd,    // `instruction`
    Enter,      // the activation begins
    Exit,       // it is over; `instruction` was its last one
    Left,       // it was left by an exception or longjmp that ended in activation `end`;
                // `instruction` was its last one
    Event,      // `event`, at `instruction` (0: none that is known)
  };
  Kind kind = Kind::Run;
  std::uint8_t part = 0;         // Access of a copy: 1 what it reads, 2 what it writes
  bool is_displaced = false;     // Event: not where the thread stood (it was done for it later)
  std::uint32_t activation = 0;  // kNowhere: none that is known
  std::uint32_t instruction = 0;
  std::uint32_t end = 0;
  std::uint32_t from = kNowhere;   // Run: the block from which its block was reached
  std::uint32_t event = kNowhere;  // number of the event
  std::uint32_t bytes = 0;
  std::uint64_t address = 0;
};

/// Where a thread stood at the end.
struct PathEnd {
  std::uint32_t activation = kNowhere;  // kNowhere: in none
  std::uint32_t call = 0;               // in this call; 0: in none
  // Instructions that it may have begun: from here to before there.
  std::uint32_t first = 0;
  std::uint32_t end = 0;
};

struct Path {
  std::vector<Activation> activations;
  std::vector<PathEntry> entries;
  std::vector<std::uint32_t> earlier;  // by event: the one before of the same access; else kNowhere
  std::vector<bool> is_over;           // by event: its access came to its end
  std::vector<PathEnd> ends;           // by thread
  std::uint64_t first_event = 0;       // what was done before it is not in the path
  std::uint64_t instructions = 0;      // executed
  std::uint64_t bytes = 0;             // that say all this
};

/// `bytes` as the runtime wrote them from event `first_event` on; `instructions` by site of the
/// trace, 0 for those without. Throws a user error when they do not fit the code.
Path read_path(std::string_view bytes, std::uint64_t first_event, const ir::ProgramCode& code,
               const trace::Trace& trace, const std::vector<std::uint32_t>& instructions);

}  // namespace heddle::analysis
