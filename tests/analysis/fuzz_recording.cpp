// SPDX-License-Identifier: Apache-2.0
//
// The log of a recorded run is written by somebody else's process: whatever is in it, reading it
// and finding an order ends, and the order has no more operations than the log. The first bytes of
// the input change the header; the rest is cut into pieces, each the beginning of a chunk.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "analysis/order/order.h"
#include "base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  constexpr std::size_t kPiece = 256;
  constexpr std::size_t kHeader = 128;
  abi::RecordingHeader header{};
  std::memcpy(header.magic, abi::kRecordingMagic, sizeof header.magic);
  header.version = abi::kRecordingVersion;
  header.chunks = sizeof header;
  header.capacity = 2u << 30;
  header.segments[0].used = 1 << 30;
  header.threads = 3;
  for (unsigned i = 1; i < 3; ++i) header.table[i] = {i + 1, i, 0, 0};
  for (std::size_t i = 0; i < size && i < kHeader; ++i) {
    reinterpret_cast<std::uint8_t*>(&header)[i] ^= data[i];
  }
  std::string log(reinterpret_cast<const char*>(&header), sizeof header);
  for (std::size_t at = kHeader; at < size; at += kPiece) {
    const std::size_t bytes = size - at < kPiece ? size - at : kPiece;
    const std::size_t begin = log.size();
    // The last piece is a chunk that was cut.
    log.resize(begin + (bytes < kPiece ? bytes : sizeof(abi::RecordingChunk)));
    std::memcpy(log.data() + begin, data + at, bytes);
  }
  analysis::Recording recording;
  try {
    recording = analysis::read_recording(log, "log");
  } catch (const Error& error) {
    if (error.code() != ExitCode::UserMistake) std::abort();
    return 0;
  }
  std::size_t told = 0;
  for (const analysis::RecordedThread& thread : recording.threads) {
    analysis::each_answer(thread.answers, [&](const abi::Answer& answer, std::string_view bytes) {
      if (answer.bytes != bytes.size()) std::abort();
      told += bytes.size();
    });
  }
  if (told > log.size()) std::abort();
  std::uint64_t steps = 0;
  for (const analysis::RecordedThread& thread : recording.threads) steps += thread.steps.size();
  recording.last = size % 4;  // also one that there is not
  const analysis::TotalOrder order = analysis::order_of(recording);
  if (order.operations + order.left_out > steps) std::abort();
  return 0;
}
