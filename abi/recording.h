// SPDX-License-Identifier: Apache-2.0
//
// What a program that runs in parallel writes down of the order of its operations: for each thread
// its operations, and for each operation its place in the order of those that touched the same
// stripe of memory. Threads write to chunks of their own; the shared mapping keeps what is complete
// whatever becomes of the process.
#pragma once

#include <cstdint>

#include "abi/channel.h"

namespace heddle::abi {

/// An operation, or (kind None) a further stripe of the operation before it.
struct RecordedStep {
  std::uint64_t sequence;  // how many touched the stripe before; in a look at the clock: the time
  SiteId site;
  EventKind kind;
  std::uint16_t stripe;
};

inline constexpr std::uint32_t kStripes = 0xfff0;
// Stripes that are none of memory.
inline constexpr std::uint16_t kSyncStripe = 0xffff;  // all synchronisation is in one order
inline constexpr std::uint16_t kNoStripe = 0xfffe;  // the operation is ordered by its thread alone
inline constexpr std::uint16_t kClockStripe = 0xfffd;  // no operation: the thread was told the time

inline constexpr std::uint32_t kStepsOfChunk = 4095;

struct RecordingChunk {
  std::uint32_t count;  // steps that are complete
  ThreadIndex thread;
  std::uint16_t reserved;
  std::uint64_t reserved2;
  RecordedStep steps[kStepsOfChunk];
};
static_assert(sizeof(RecordingChunk) == 64 << 10);

/// Memory is told apart in cache lines: no aligned access crosses one.
inline constexpr std::uint64_t kStripeBytes = 64;

/// Which stripe a line belongs to.
constexpr std::uint16_t stripe_of(std::uint64_t address) {
  const std::uint64_t line = address / kStripeBytes;
  return static_cast<std::uint16_t>((line * 0x9E3779B97F4A7C15ull >> 32) * kStripes >> 32);
}

}  // namespace heddle::abi
