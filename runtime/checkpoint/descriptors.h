// SPDX-License-Identifier: Apache-2.0
//
// The descriptors of a program that stands still, and the way to have them again in another
// process. What is outside the program needs no more than its number: the recording answers for it.
#pragma once

#include <cstddef>

#include "abi/memory_image.h"
#include "abi/recording.h"

namespace heddle::runtime {

struct DescriptorTable {
  static constexpr std::size_t kMost = abi::kChannelDescriptor;
  static constexpr std::size_t kMostWatches = 16 << 10;
  static constexpr std::size_t kText = 1 << 20;

  std::uint32_t count;
  std::uint32_t watches;
  abi::ImageDescriptor descriptors[kMost];
  abi::ImageWatch watched[kMostWatches];
  char text[kText];  // what the kernel says of one

  /// False when there is one that could not be made again.
  bool read();
  /// False when one cannot be made again: a file is gone.
  bool make() const;
};

/// The three that every execution has.
inline constexpr int kStreams = 3;

}  // namespace heddle::runtime
