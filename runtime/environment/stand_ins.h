// SPDX-License-Identifier: Apache-2.0
//
// Libraries that the program opens by itself, and what is loaded in the place of some: the driver
// derives variants of those that were built with heddle-cc, once it has been told which there are.
#pragma once

#include "abi/channel.h"

namespace heddle::runtime {

class StandIns {
 public:
  void begin(abi::ChannelHeader& channel) { channel_ = &channel; }

  /// What to load in the place of the library at `path` (an absolute one, without links); nullptr:
  /// nothing stands in for it.
  const char* find(const char* path);
  /// Tells the driver of such a one. By one thread at a time.
  void note(const char* path);

 private:
  char* bytes(const abi::Region& region) {
    return reinterpret_cast<char*>(channel_) + region.offset;
  }

  abi::ChannelHeader* channel_ = nullptr;
};

StandIns& stand_ins();

}  // namespace heddle::runtime
