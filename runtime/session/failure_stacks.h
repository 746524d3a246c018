// SPDX-License-Identifier: Apache-2.0
//
// Leaves in the channel what the driver needs to walk the stack of every thread of a run that has
// failed: registers, a copy of the stack, which files are loaded where. The process may be broken:
// nothing is unwound, and no memory is read but through the kernel.
#pragma once

#include <ucontext.h>

namespace heddle::runtime {

class Session;

/// The calling thread is the one that runs.
void record_stacks(Session& run);
/// The same from a signal handler: the thread that runs is where the signal found it.
void record_stacks(Session& run, const ucontext_t& interrupted);

}  // namespace heddle::runtime
