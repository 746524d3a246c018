// SPDX-License-Identifier: Apache-2.0
//
// One order of all operations of a recorded run, after LEAP (Huang, Liu and Zhang, FSE 2010): any
// order that respects each thread's own and, for each stripe of memory, that of those who touched
// it, gives every read the value it had.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/order/recording.h"

namespace heddle::analysis {

/// `thread` does its next `operations`.
struct Turn {
  std::size_t thread = 0;  // in Recording::threads
  std::uint32_t operations = 0;
  abi::SiteId site = abi::kUnknownSite;  // of the first, where the recording is sure of it
};

struct TotalOrder {
  std::vector<Turn> turns;
  std::uint64_t operations = 0;
  /// Without a place: they came after the operation that ended the run, or after one that the log
  /// does not have any more.
  std::uint64_t left_out = 0;
};

/// Stays with a thread as long as it can: few switches. The last operation of the thread that ended
/// the run comes as late as it can, for nothing comes after it.
TotalOrder order_of(const Recording& recording);

}  // namespace heddle::analysis
