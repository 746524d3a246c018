// SPDX-License-Identifier: Apache-2.0
//
// Runs the program again and again without starting it again: the process stands still before the
// program's first instruction and forks an execution whenever the driver asks for one.
#pragma once

#include "abi/channel.h"

namespace heddle::runtime {

/// The channel the driver handed down, or one of this process's own when there is none.
abi::ChannelHeader& open_channel(bool& has_driver);

/// Returns once for each execution, in a process of its own. The serving process never returns. For
/// a debugger, which would lose sight of a process behind a fork, it is the execution itself.
void serve_executions(abi::ChannelHeader& channel);

}  // namespace heddle::runtime
