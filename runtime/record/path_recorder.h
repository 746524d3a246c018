// SPDX-License-Identifier: Apache-2.0
//
// Writes an execution's way through the program's instructions (abi/path_record.h) into the
// channel. What does not fit any more is left out, and the channel says so.
#pragma once

#include <cstdint>

#include "abi/channel.h"
#include "abi/path_record.h"

namespace heddle::runtime {

class PathRecorder {
 public:
  void begin_run();

  /// Where in the execution an item belongs.
  struct Place {
    abi::ChannelHeader& channel;
    abi::ThreadIndex thread;
  };
  void at(const Place& place, abi::PathItem item, std::uint32_t instruction);
  void access(const Place& place, std::uint32_t instruction, std::uint64_t address);
  void range(const Place& place, std::uint32_t instruction, std::uint64_t address,
             std::uint64_t bytes);
  /// Enter or Landed, with an address in the frame.
  void frame(const Place& place, abi::PathItem item, std::uint64_t address);
  void exit(const Place& place);

 private:
  class Writer;

  bool is_used_ = false;
  abi::ThreadIndex thread_ = 0;
  std::uint32_t instruction_ = 0;
  std::uint64_t events_ = 0;
  abi::PathFrames frames_;
  abi::PathAddresses addresses_;
};

PathRecorder& path_recorder();

}  // namespace heddle::runtime
