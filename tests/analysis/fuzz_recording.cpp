// SPDX-License-Identifier: Apache-2.0
//
// The log of a recorded run is written by somebody else's process: whatever is in it, reading it
// and finding an order ends, and the order has no more operations than the log. The input is cut
// into pieces, each the beginning of a chunk.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "analysis/order/order.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  constexpr std::size_t kPiece = 256;
  std::vector<char> log;
  for (std::size_t at = 0; at < size; at += kPiece) {
    const std::size_t bytes = size - at < kPiece ? size - at : kPiece;
    const std::size_t begin = log.size();
    // The last piece is a chunk that was cut.
    log.resize(begin + (bytes < kPiece ? bytes : sizeof(abi::RecordingChunk)));
    std::memcpy(log.data() + begin, data + at, bytes);
  }
  std::vector<abi::ThreadRecord> threads(3);
  analysis::Recording recording = analysis::read_recording(log, threads);
  std::uint64_t steps = 0;
  for (const analysis::RecordedThread& thread : recording.threads) steps += thread.steps.size();
  recording.last = size % 4;  // also one that there is not
  const analysis::TotalOrder order = analysis::order_of(recording);
  if (order.operations + order.left_out > steps) std::abort();
  return 0;
}
