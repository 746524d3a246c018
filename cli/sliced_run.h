// SPDX-License-Identifier: Apache-2.0
//
// The slice of a run, as precise as it can be had: of its instructions, by replaying it; else of
// what its program's code says; else of whole threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/slice/slice.h"
#include "cli/terminal.h"
#include "driver/replayer.h"
#include "driver/target.h"
#include "store/store.h"

namespace heddle::cli {

/// How dependences within a thread are followed.
enum class Within : std::uint8_t { Instructions, Code, WholeThreads };
const char* name_of(Within within);

struct SliceWish {
  std::optional<std::uint64_t> at;  // which event; else the failure
  Within most = Within::Instructions;
  std::optional<std::uint64_t> window;  // how many events at the end are replayed for it
};

/// Lines of one source file.
struct SlicedLines {
  std::string file;
  std::vector<std::uint32_t> lines;  // sorted
};

struct SlicedRun {
  Within within = Within::WholeThreads;
  std::string why_not_more;  // in words; empty if it is what was wished for
  analysis::Slice slice;
  std::uint32_t code_instructions = 0;  // of the program; unless WholeThreads
  // Instructions:
  std::uint64_t instances = 0;  // in the slice
  std::uint64_t executed = 0;
  std::uint64_t trace_bytes = 0;
  std::uint64_t window_from = 0;                // the event the instructions begin with
  std::vector<std::vector<SlicedLines>> lines;  // by thread
};

/// `build_id`: of the program that was run.
SlicedRun slice_run(const driver::Inputs& inputs, const driver::Expectation& run,
                    const std::string& build_id, const SliceWish& wish, ProgressLine& progress);

/// What is worth showing of the run, by event: the slice, and events at the same memory.
std::vector<bool> worth_showing(const trace::Trace& trace, const analysis::Slice& slice);

/// That, for `heddle show`; where the store cannot be written to, nothing is kept.
void keep_slice(store::Store& store, const store::RunId& run, const std::vector<bool>& shown);

}  // namespace heddle::cli
