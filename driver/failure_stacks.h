// SPDX-License-Identifier: Apache-2.0
//
// What each thread was doing when an execution failed: its stack, walked from the registers and the
// copy of its memory that the runtime left in the channel (runtime/session/failure_stacks.h).
// Takes tens of milliseconds, since debug information is read: for runs that are kept.
#pragma once

#include <vector>

#include "driver/channel.h"
#include "driver/program.h"
#include "trace/trace.h"

namespace heddle::driver {

/// In the order of the threads. Without what belongs to Heddle, and without what comes before the
/// program's own code at the outer end. Empty if the execution left nothing.
std::vector<trace::Stack> failure_stacks(const Program& program, const Channel& channel);

}  // namespace heddle::driver
