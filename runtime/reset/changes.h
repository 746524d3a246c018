// SPDX-License-Identifier: Apache-2.0
//
// What the execution did to the state that the kernel holds for it, as far as the runtime saw it
// go by (runtime/entry/kernel_calls.cpp). What is cheap to compare or to put back is not noted here
// but done after every execution (kernel_state.h).
#pragma once

#include <cstdint>

#include "abi/channel.h"

namespace heddle::runtime {

struct Changes {
  bool mappings = false;          // made, removed or changed some
  bool signals = false;           // changed what a signal does
  bool limits = false;            // set some
  bool groups = false;            // changed which further groups it is in
  bool descriptor_flags = false;  // changed what is closed when a program is executed
  bool dropped_pages = false;  // gave pages back to the kernel whose contents are in the snapshot
  abi::ResetObstacle obstacle = abi::ResetObstacle::None;  // did what cannot be undone
  bool more_threads = false;  // made a kernel thread; the next worker has one in advance
};

/// Ordinary memory: undone with the rest.
inline Changes& changes() {
  static constinit Changes the_changes;
  return the_changes;
}

}  // namespace heddle::runtime
