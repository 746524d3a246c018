// SPDX-License-Identifier: Apache-2.0
//
// The log of a run whose threads ran in parallel (abi/recording.h), as data.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "abi/recording.h"

namespace heddle::analysis {

struct RecordedThread {
  std::uint64_t hash = 0;  // of its path
  std::vector<abi::RecordedStep> steps;
  std::vector<std::int64_t> clock;  // the times it was told, in order
};

struct Recording {
  std::vector<RecordedThread> threads;
  std::size_t last = 0;  // the thread that ended the run
};

/// Takes what is there: of chunks that are cut, or that no thread can have written, nothing.
Recording read_recording(std::span<const char> chunks, std::span<const abi::ThreadRecord> threads);

}  // namespace heddle::analysis
