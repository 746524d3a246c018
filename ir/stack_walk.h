// SPDX-License-Identifier: Apache-2.0
//
// The call stacks of a program that stands still, on source lines and with inlined functions, by
// the unwind tables and debug information of its files. Which instruction of the program a frame is
// at, PcMap tells by `file_address`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ir/machine_state.h"
#include "trace/trace.h"

namespace heddle::ir {

struct StackFrame {
  /// Of the instruction it is at, or of the call it is in: never of the one to return to.
  std::uint64_t address = 0;
  std::uint64_t file_address = 0;  // the same, as in the file
  std::string file;                // what is loaded there; empty: unknown
  std::vector<trace::Frame>
      places;            // inlined functions first; without debug information the symbol
  bool in_call = false;  // `address` is the last byte of a call
};

struct ThreadStack {
  long thread = 0;
  std::vector<StackFrame> frames;  // innermost first
  bool is_whole = false;           // false: there are more that cannot be found, or are too many
};

/// `program` is read instead of the file that `loaded_from` names (empty: nothing is replaced): a
/// program may have been moved since. Files that cannot be read have frames without places.
std::vector<ThreadStack> walk_stacks(const MachineState& state, const std::string& loaded_from,
                                     const std::filesystem::path& program);

}  // namespace heddle::ir
