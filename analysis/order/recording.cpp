// SPDX-License-Identifier: Apache-2.0
#include "analysis/order/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/error.h"

namespace heddle::analysis {
namespace {

constexpr std::size_t kChunkHead = offsetof(abi::RecordingChunk, steps);
constexpr std::size_t kFixedHeader = offsetof(abi::RecordingHeader, table);

/// The answer that `bytes` begins with; nothing when it is not whole, or none.
std::optional<abi::Answer> first_answer(std::string_view bytes) {
  abi::Answer answer{};
  if (bytes.size() < sizeof answer) return std::nullopt;
  std::memcpy(&answer, bytes.data(), sizeof answer);
  if (answer.kind < abi::AnswerKind::Clock || answer.kind > abi::AnswerKind::Source) {
    return std::nullopt;
  }
  if (bytes.size() - sizeof answer < abi::padded(answer.bytes)) return std::nullopt;
  return answer;
}

std::uint64_t size_of(const abi::Answer& answer) {
  return sizeof answer + abi::padded(answer.bytes);
}

abi::RecordingHeader read_header(std::string_view log, std::string_view name) {
  abi::RecordingHeader header{};
  if (log.size() < sizeof header.magic ||
      std::memcmp(log.data(), abi::kRecordingMagic, sizeof header.magic) != 0) {
    throw user_error(fmt::format("{}: not the log of a recording", name));
  }
  if (log.size() < kFixedHeader) {
    throw user_error(
        fmt::format("{}: the log ends inside its header: nothing of it can be used", name));
  }
  std::memcpy(&header, log.data(), std::min(log.size(), sizeof header));
  if (header.version != abi::kRecordingVersion) {
    throw user_error(fmt::format("{}: log of format version {}, this Heddle reads {}; record again",
                                 name, header.version, abi::kRecordingVersion));
  }
  if (header.text_bytes > header.chunks || header.chunks - header.text_bytes < sizeof header) {
    throw user_error(fmt::format("{}: damaged header: record again", name));
  }
  return header;
}

/// Those whose birth is whole: every thread but the first has a parent that was there before.
std::vector<RecordedThread> read_threads(const abi::RecordingHeader& header, std::size_t there) {
  std::vector<RecordedThread> threads;
  const std::size_t count = std::min<std::size_t>({header.threads, abi::kMaxThreads, there});
  for (std::size_t i = 0; i < count; ++i) {
    const abi::ThreadRecord& born = header.table[i];
    if (i > 0 && born.parent >= i) break;
    threads.push_back(
        {i == 0 ? "t0" : fmt::format("{}.{}", threads[born.parent].path, born.ordinal),
         born.hash,
         {},
         {}});
  }
  return threads;
}

void add_steps(RecordedThread& thread, std::string_view bytes) {
  for (; bytes.size() >= sizeof(abi::RecordedStep);
       bytes.remove_prefix(sizeof(abi::RecordedStep))) {
    abi::RecordedStep step;
    std::memcpy(&step, bytes.data(), sizeof step);
    // A further stripe needs an operation that it belongs to.
    if (step.kind == abi::EventKind::None && thread.steps.empty()) continue;
    thread.steps.push_back(step);
  }
}

void add_chunk(Recording& recording, std::string_view chunk) {
  abi::RecordingChunk head;
  std::memcpy(&head, chunk.data(), kChunkHead);
  chunk.remove_prefix(kChunkHead);
  if (head.thread >= recording.threads.size()) return;
  RecordedThread& thread = recording.threads[head.thread];
  if (head.holds == abi::ChunkHolds::Steps) {
    const std::size_t count = std::min(head.count, abi::kStepsOfChunk);
    add_steps(thread, chunk.substr(0, count * sizeof(abi::RecordedStep)));
  } else if (head.holds == abi::ChunkHolds::Answers) {
    thread.answers += chunk.substr(0, head.count);
  }
}

}  // namespace

std::string_view whole_answers(std::string_view bytes) {
  std::size_t whole = 0;
  while (const std::optional<abi::Answer> answer = first_answer(bytes.substr(whole))) {
    whole += size_of(*answer);
  }
  return bytes.substr(0, whole);
}

void each_answer(std::string_view answers, const AnswerVisitor& visit) {
  while (const std::optional<abi::Answer> answer = first_answer(answers)) {
    visit(*answer, answers.substr(sizeof *answer, answer->bytes));
    answers.remove_prefix(size_of(*answer));
  }
}

const char* name_of(abi::UnrecordedSource source) {
  switch (source) {
    case abi::UnrecordedSource::ChildProcess: return "child processes";
    case abi::UnrecordedSource::StreamOfOther: return "stdio on something that is no plain file";
    case abi::UnrecordedSource::ControlMessage: return "control messages of sockets";
    case abi::UnrecordedSource::SharedMemory: return "memory shared with other processes";
    case abi::UnrecordedSource::DeviceControl: return "ioctl";
    case abi::UnrecordedSource::DirectTransfer: return "sendfile, splice, vmsplice or recvmmsg";
  }
  return "something unknown";
}

Recording read_recording(std::string_view log, std::string_view name) {
  const abi::RecordingHeader header = read_header(log, name);
  const std::size_t table = std::min(log.size(), sizeof header) - kFixedHeader;
  Recording recording;
  recording.end = header.end;
  recording.process = header.process;
  recording.threads = read_threads(header, table / sizeof(abi::ThreadRecord));
  if (log.size() < sizeof header + header.text_bytes) {
    throw user_error(fmt::format(
        "{}: the log ends before the first thing that happened: nothing of it can be used", name));
  }
  recording.text = log.substr(sizeof header, header.text_bytes);
  if (log.size() < header.chunks) return recording;
  std::string_view chunks = log.substr(header.chunks);
  chunks = chunks.substr(0, std::min(header.used, header.capacity));
  while (chunks.size() > kChunkHead) {
    const std::string_view chunk = chunks.substr(0, sizeof(abi::RecordingChunk));
    add_chunk(recording, chunk);
    chunks.remove_prefix(chunk.size());
  }
  for (RecordedThread& thread : recording.threads) {
    thread.answers.resize(whole_answers(thread.answers).size());
  }
  return recording;
}

}  // namespace heddle::analysis
