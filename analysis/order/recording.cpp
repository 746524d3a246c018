// SPDX-License-Identifier: Apache-2.0
#include "analysis/order/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>

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
    throw user_error(
        fmt::format("{}: not the log of a recording; those that were left behind are "
                    ".heddle/tmp/recording-*.log",
                    name));
  }
  if (log.size() < kFixedHeader) {
    throw user_error(fmt::format(
        "{}: the log ends inside its header: nothing of it can be used; record again", name));
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
         {},
         static_cast<abi::ThreadStop>(born.reserved)});
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

/// The segments that can be followed one after the other up to the newest, oldest first.
std::vector<std::size_t> usable_segments(const abi::RecordingHeader& header) {
  const auto can_begin = [&](std::size_t i) {
    return header.segments[i].number == 0 || header.segments[i].checkpoint != 0;
  };
  const std::size_t newest = header.newest % abi::kSegments;
  const std::size_t before = (newest + 1) % abi::kSegments;
  const bool follows = header.segments[newest].number > 0 &&
                       header.segments[before].number + 1 == header.segments[newest].number;
  if (follows && can_begin(before)) return {before, newest};
  if (can_begin(newest)) return {newest};
  return {};
}

/// Each segment that begins with a checkpoint counts anew who touched a stripe: goes on counting.
class VisitCount {
 public:
  explicit VisitCount(std::vector<RecordedThread>& threads)
      : threads_(threads), seen_(threads.size(), 0) {}

  void end_segment(bool counts_anew) {
    std::unordered_map<std::uint16_t, std::uint64_t> next = before_;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      for (; seen_[i] < threads_[i].steps.size(); ++seen_[i]) {
        abi::RecordedStep& step = threads_[i].steps[seen_[i]];
        if (counts_anew) {
          const auto found = before_.find(step.stripe);
          if (found != before_.end()) step.sequence += found->second;
        }
        std::uint64_t& behind = next[step.stripe];
        behind = std::max(behind, step.sequence + 1);
      }
    }
    before_ = std::move(next);
  }

 private:
  std::vector<RecordedThread>& threads_;
  std::vector<std::size_t> seen_;  // steps of each thread
  std::unordered_map<std::uint16_t, std::uint64_t> before_;
};

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

void add_chunks(Recording& recording, std::string_view all, const abi::RecordingHeader& header,
                std::size_t segment) {
  const std::uint64_t room = abi::segment_bytes(header.capacity);
  const std::uint64_t begin = segment * room;
  if (begin >= all.size()) return;
  std::string_view chunks = all.substr(begin, std::min(header.segments[segment].used, room));
  while (chunks.size() > kChunkHead) {
    const std::string_view chunk = chunks.substr(0, sizeof(abi::RecordingChunk));
    add_chunk(recording, chunk);
    chunks.remove_prefix(chunk.size());
  }
}

}  // namespace

const char* sentence_of(abi::CheckpointObstacle obstacle) {
  switch (obstacle) {
    case abi::CheckpointObstacle::None: return "there was none";
    case abi::CheckpointObstacle::Restless:
      return "a thread did not come to a point at which it can be left";
    case abi::CheckpointObstacle::Descriptors:
      return "the program has a descriptor that could not be made again (a socket pair, a pipe "
             "with "
             "something in it, a deleted file)";
    case abi::CheckpointObstacle::Memory:
      return "what memory the program has cannot be told (Linux before 6.7)";
    case abi::CheckpointObstacle::Disk: return "there was no room on the disk";
  }
  return "of something unknown";
}

void settle_end(Recording& recording, std::size_t otherwise) {
  recording.last = otherwise;
  for (std::size_t i = 0; i < recording.threads.size(); ++i) {
    RecordedThread& thread = recording.threads[i];
    if (thread.stop == abi::ThreadStop::Ends) recording.last = i;
    if (thread.stop != abi::ThreadStop::Amid) continue;
    while (!thread.steps.empty() && thread.steps.back().kind == abi::EventKind::None) {
      thread.steps.pop_back();
    }
    if (!thread.steps.empty()) thread.steps.pop_back();
  }
}

bool any_under_way(const Recording& recording) {
  for (std::size_t i = 0; i < recording.threads.size(); ++i) {
    const RecordedThread& thread = recording.threads[i];
    const bool is_there = thread.stop != abi::ThreadStop::None || i == recording.last;
    if (!is_there && !thread.steps.empty()) return true;
  }
  return false;
}

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
  recording.obstacle = static_cast<abi::CheckpointObstacle>(header.obstacle);
  recording.process = header.process;
  recording.threads = read_threads(header, table / sizeof(abi::ThreadRecord));
  if (log.size() < sizeof header + header.text_bytes) {
    throw user_error(
        fmt::format("{}: the log ends before the first thing that happened: nothing of it can be "
                    "used; record again",
                    name));
  }
  recording.text = log.substr(sizeof header, header.text_bytes);
  if (log.size() < header.chunks) return recording;
  const std::vector<std::size_t> segments = usable_segments(header);
  if (segments.empty()) {
    throw user_error(fmt::format(
        "{}: the beginning of the recording is gone, and there is no checkpoint from which to go "
        "on: nothing of it can be used; record again",
        name));
  }
  if (const abi::RecordingSegment& first = header.segments[segments.front()]; first.number > 0) {
    recording.checkpoint = {
        first.number, first.number % abi::kSegments, {first.printed[0], first.printed[1]}};
  }
  VisitCount visits(recording.threads);
  for (const std::size_t i : segments) {
    add_chunks(recording, log.substr(header.chunks), header, i);
    visits.end_segment(i != segments.front() && header.segments[i].checkpoint != 0);
  }
  for (RecordedThread& thread : recording.threads) {
    thread.answers.resize(whole_answers(thread.answers).size());
  }
  return recording;
}

}  // namespace heddle::analysis
