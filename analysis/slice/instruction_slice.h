// SPDX-License-Identifier: Apache-2.0
//
// Backward dynamic slice of a run over its instructions (LEAN, Algorithm 3): of each thread those
// instances of instructions that the failure, or an event, may depend on.
//
//   within a thread  a value on the instance that computed it, in the same invocation; a PHI on the
//                    edge by which its block was reached; an argument on the call's, a call on what
//                    was returned; memory on the last write of those bytes; an instance on the
//                    branch that decided it, an invocation on its call
//   between threads  what event_dependences.h says
//
// Like slice.h, synchronisation of a thread in the slice always counts. Where something is not
// known, all that it could be is in the slice: what code outside the program reads and writes, how
// a function came to be called by it, where an exception came from. What was done before the path
// begins is sliced as slice.h does.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/slice/path.h"
#include "analysis/slice/slice.h"

namespace heddle::analysis {

struct InstructionSlice {
  Slice slice;                  // its events
  std::uint64_t instances = 0;  // of instructions, in it; of Path::instructions
  /// By thread, in order: the instructions of which an instance is in it.
  std::vector<std::vector<std::uint32_t>> instructions;
};

/// `at`: an event of the run; without one, of the failure. `code` is of the same program.
InstructionSlice slice_instructions(const trace::Trace& trace, const Path& path,
                                    const ir::ProgramCode& program, const Code& code,
                                    std::optional<std::size_t> at = std::nullopt);

}  // namespace heddle::analysis
