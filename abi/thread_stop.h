// SPDX-License-Identifier: Apache-2.0
//
// Where a recorded thread stands (abi/recording.h, the last two bytes of its entry in the table of
// threads): what is known of it when the run has ended.
#pragma once

#include <cstdint>

namespace heddle::abi {

enum class ThreadStop : std::uint16_t {
  None = 0,     // it is on its way from one operation to the next
  Arrived = 1,  // it waits: at its next operation, for its failure to be the first, or it is over
  Amid = 2,     // a signal came in the middle of the operation that it wrote down last
  Ends = 3,     // it ends the run
};

}  // namespace heddle::abi
