// SPDX-License-Identifier: Apache-2.0
//
// The log of a run whose threads ran in parallel (abi/recording.h), as data.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "abi/recording.h"
#include "abi/thread_stop.h"

namespace heddle::analysis {

struct RecordedThread {
  std::string path;        // "t0.2.1"
  std::uint64_t hash = 0;  // of the path
  std::vector<abi::RecordedStep> steps;
  std::string answers;  // whole abi::Answers, one after the other
  abi::ThreadStop stop = abi::ThreadStop::None;
};

/// Where a recording begins that has lost what came before.
struct RecordedCheckpoint {
  std::uint32_t number = 0;       // of the segment that begins there: so many came before
  std::uint32_t file = 0;         // which of the two that checkpoints are in
  std::uint64_t printed[2] = {};  // by then, to output and error
};

struct Recording {
  std::string text;                              // the driver's own, about the program
  std::optional<RecordedCheckpoint> checkpoint;  // nothing: it begins where the program does
  std::vector<RecordedThread> threads;
  std::int32_t process = 0;
  std::size_t last = 0;  // the thread that ended the run
  abi::RecordingEnd end = abi::RecordingEnd::None;
  abi::CheckpointObstacle obstacle = abi::CheckpointObstacle::None;  // to the last attempt
};

/// Takes what is there of a log that ends anywhere: of chunks that are cut, or that no thread can
/// have written, what is whole. user_error, with `name`, when it is no log, or nothing is there.
Recording read_recording(std::string_view log, std::string_view name);

/// For a run that has ended: says which thread ended it (`otherwise` if the log does not), and
/// leaves out operations in whose middle threads came to stand still. Nobody came after those.
void settle_end(Recording& recording, std::size_t otherwise);
/// Another thread than the last was between two operations when the run ended.
bool any_under_way(const Recording& recording);

/// Of `bytes` those that are whole answers.
std::string_view whole_answers(std::string_view bytes);

using AnswerVisitor = std::function<void(const abi::Answer& answer, std::string_view bytes)>;
/// `answers`: whole ones.
void each_answer(std::string_view answers, const AnswerVisitor& visit);

/// In words: why a checkpoint could not be taken.
const char* sentence_of(abi::CheckpointObstacle obstacle);

/// A source of nondeterminism that recordings do not hold, in words.
const char* name_of(abi::UnrecordedSource source);

}  // namespace heddle::analysis
