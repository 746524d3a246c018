// SPDX-License-Identifier: Apache-2.0
//
// A program whose threads all stand still, in a file: what it can write to, and what the kernel
// holds for it. Another process that stands before the same program's first instruction can become
// it: all addresses are the same there (runtime/base/address_space.h, and no address is random), so
// memory is copied to where it was and nothing in it needs to be understood. Threads are what their
// stacks and thread-local storage hold: the session goes on with them as fibers
// (docs/decisions/0022). Where the program is not, the restorer does it (runtime/restorer).
#pragma once

#include "abi/recording.h"

namespace heddle::runtime {

/// What is called in a process that has become the program, and with which thread pointer.
struct Continuation {
  void (*go_on)(abi::ChannelHeader& channel);
  std::uint64_t thread_pointer;  // of the first thread
};

/// All other threads of the program must stand still, with their registers on their stacks. `held`
/// says that the file holds an image: 0 from when that is written over.
abi::CheckpointObstacle write_checkpoint(int file, std::uint32_t& held,
                                         const Continuation& continuation);

/// Writes the program, which stands before its first instruction, to abi::kCheckpointDescriptor and
/// ends the process. Returns in each process that becomes it. Says why in the channel where that is
/// not possible.
void keep_beginning(abi::ChannelHeader& channel);

/// Becomes the program that the image at abi::kCheckpointDescriptor is of, and goes on there. Says
/// why in the channel, and ends the process, where that is not possible.
[[noreturn]] void restore_checkpoint(abi::ChannelHeader& channel);

}  // namespace heddle::runtime
