// SPDX-License-Identifier: Apache-2.0
//
// Executes a program again and again in one process: takes a snapshot where the program would
// begin, and when an execution ends brings the process back to it instead of ending it. All threads
// of an execution are fibers on one kernel thread, so there is only one place to go back to.
//
// Or it takes the snapshot later, behind events that many executions have in common (abi::Stem).
//
// The keeper runs on a stack of its own, and what it needs to know lies in memory that the program
// cannot write to; an execution that crashes or overwrites its memory is undone like any other.
// docs/decisions/0007-in-place-reset.md says what was measured.
#pragma once

#include "abi/channel.h"

namespace heddle::runtime {

/// Called in a process made for executions. Returns once for each execution that the driver asks
/// for, always as if for the first time. If this kernel cannot do it, returns for the current
/// execution only, and says why in the channel.
void keep_executing(abi::ChannelHeader& channel);

/// Called in the middle of an execution, in a process made for it alone: executions that the driver
/// asks for with the same stem begin here from now on. Returns once for each, the current one
/// included. False if the process cannot be brought back to where it is: then for the current one
/// only.
bool keep_executing_from_here(abi::ChannelHeader& channel);
/// Before the program begins: what the process has been given is no obstacle to that.
void remember_beginning();

/// True if end_execution() would not return.
bool is_kept();
/// The current execution is over, with a status as wait(2) has it. Returns only if it is not the
/// keeper's to undo: the caller then ends the process.
void end_execution(int status);

/// The same, for a caller that has asked is_kept().
[[noreturn]] void end_kept_execution(int status);

/// Whether an earlier execution in this process has asked the kernel for the pages of so many
/// events; if not, the caller is going to.
bool has_room_for(std::uint64_t events);

/// Memory that the snapshot may have contents of is given back to the kernel.
void note_dropped_pages(std::uint64_t begin, std::uint64_t bytes);
/// Mappings in the range are replaced, removed or given other permissions.
void note_changed_mappings(std::uint64_t begin, std::uint64_t bytes);

}  // namespace heddle::runtime
