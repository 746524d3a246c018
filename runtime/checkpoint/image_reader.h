// SPDX-License-Identifier: Apache-2.0
//
// What both ways of becoming the program of an image have in common (checkpoint.h, and the
// restorer). Says why in the channel, and ends the process, where something is not possible.
#pragma once

#include "abi/channel.h"
#include "abi/memory_image.h"
#include "runtime/checkpoint/descriptors.h"

namespace heddle::runtime {

inline constexpr long kMaskBytes = 8;  // of a set of signals, to the kernel

[[noreturn]] void cannot_restore(abi::ChannelHeader& channel, const char* why);

inline constexpr const char* kImageDamaged = "the checkpoint of this run is damaged";
inline constexpr const char* kNotMapped =
    "a library or file that the recorded program had mapped is not mapped when it begins";
inline constexpr const char* kFileGone =
    "a file that the recorded program had open is not there any more";

class ImageReader {
 public:
  /// From the beginning of the file.
  ImageReader(int file, abi::ChannelHeader& channel);

  void read(void* to, std::uint64_t bytes);
  /// The header and what it counts, of which there may be no more than `most_mappings`.
  void read_beginning(abi::ImageHeader& header, abi::Mapping* mappings, std::size_t most_mappings,
                      DescriptorTable& descriptors);
  /// All that is left, to where it was.
  void read_runs();

 private:
  int file_;
  abi::ChannelHeader& channel_;
};

bool same_magic(const char (&a)[8], const char (&b)[8]);

/// Calls `visit(begin, end, other)` for each part of [begin, end): `other` is which of `ranges`
/// (in ascending order) it is in, nullptr where it is in none.
template <typename Range, typename Visit>
void each_part(std::uint64_t begin, std::uint64_t end, const Range* ranges, std::size_t count,
               Visit visit) {
  for (std::size_t i = 0; i < count && begin < end; ++i) {
    const Range& other = ranges[i];
    if (other.end <= begin) continue;
    if (other.begin >= end) break;
    if (other.begin > begin) visit(begin, other.begin, static_cast<const Range*>(nullptr));
    const std::uint64_t from = other.begin > begin ? other.begin : begin;
    begin = other.end < end ? other.end : end;
    visit(from, begin, &other);
  }
  if (begin < end) visit(begin, end, static_cast<const Range*>(nullptr));
}

/// Neither read nor written: kept free by whoever mapped it.
bool is_gap(const abi::Mapping& mapping);
bool map_gap(std::uint64_t begin, std::uint64_t end);

void block_signals();
/// What the kernel holds besides memory and descriptors.
void set_kernel_state(const abi::ImageHeader& header);

}  // namespace heddle::runtime
