// SPDX-License-Identifier: Apache-2.0
#include "analysis/order/recording.h"

#include <algorithm>
#include <cstring>

namespace heddle::analysis {
namespace {

void add_step(RecordedThread& thread, const abi::RecordedStep& step) {
  if (step.stripe == abi::kClockStripe) {
    thread.clock.push_back(static_cast<std::int64_t>(step.sequence));
    return;
  }
  // A further stripe needs an operation that it belongs to.
  if (step.kind == abi::EventKind::None && thread.steps.empty()) return;
  thread.steps.push_back(step);
}

}  // namespace

Recording read_recording(std::span<const char> chunks, std::span<const abi::ThreadRecord> threads) {
  constexpr std::size_t kHead = offsetof(abi::RecordingChunk, steps);
  Recording recording;
  for (const abi::ThreadRecord& thread : threads)
    recording.threads.push_back({thread.hash, {}, {}});
  for (std::size_t at = 0; at + kHead <= chunks.size(); at += sizeof(abi::RecordingChunk)) {
    abi::RecordingChunk head;
    std::memcpy(&head, chunks.data() + at, kHead);
    if (head.thread >= threads.size()) continue;
    const std::size_t there = (chunks.size() - at - kHead) / sizeof(abi::RecordedStep);
    const std::size_t count = std::min<std::size_t>({head.count, abi::kStepsOfChunk, there});
    for (std::size_t i = 0; i < count; ++i) {
      abi::RecordedStep step;
      std::memcpy(&step, chunks.data() + at + kHead + i * sizeof step, sizeof step);
      add_step(recording.threads[head.thread], step);
    }
  }
  return recording;
}

}  // namespace heddle::analysis
