// SPDX-License-Identifier: Apache-2.0
#include "runtime/environment/told_answers.h"

#include "runtime/base/text.h"

namespace heddle::runtime {
namespace {

std::uint64_t size_of(const abi::Answer& answer) {
  return sizeof answer + abi::padded(answer.bytes);
}

const char*& next_of(ToldCursor& cursor, abi::AnswerKind kind) {
  return cursor.next[static_cast<unsigned>(kind) - 1];
}

}  // namespace

void ToldAnswers::begin_run(const abi::ChannelHeader& channel) {
  channel_ = channel.is_told != 0 ? &channel : nullptr;
}

template <typename Record>
const Record* ToldAnswers::records(const abi::Region& region) const {
  return reinterpret_cast<const Record*>(reinterpret_cast<const char*>(channel_) + region.offset);
}

void ToldAnswers::open(std::uint64_t thread, ToldCursor& cursor) const {
  cursor.opened = true;
  const auto* const streams = records<abi::AnswerStream>(channel_->answer_streams);
  for (std::uint64_t i = 0; i < channel_->answer_streams.count; ++i) {
    if (streams[i].thread != thread) continue;
    const char* const begin = records<char>(channel_->answers) + streams[i].offset;
    for (const char*& next : cursor.next) next = begin;
    cursor.end = begin + streams[i].bytes;
  }
}

const abi::Answer* ToldAnswers::peek(std::uint64_t thread, ToldCursor& cursor,
                                     abi::AnswerKind kind) const {
  if (!active()) return nullptr;
  if (!cursor.opened) open(thread, cursor);
  const char*& next = next_of(cursor, kind);
  while (next != cursor.end) {
    const auto& answer = *reinterpret_cast<const abi::Answer*>(next);
    if (answer.kind == kind) return &answer;
    next += size_of(answer);
  }
  return nullptr;
}

const abi::Answer* ToldAnswers::take(std::uint64_t thread, ToldCursor& cursor,
                                     abi::AnswerKind kind) const {
  const abi::Answer* const answer = peek(thread, cursor, kind);
  if (answer != nullptr) next_of(cursor, kind) += size_of(*answer);
  return answer;
}

const char* ToldAnswers::copy_of(const char* given) const {
  if (!active()) return given;
  const auto* const copies = records<abi::FileCopy>(channel_->file_copies);
  const char* const names = records<char>(channel_->file_names);
  for (std::uint64_t i = 0; i < channel_->file_copies.count; ++i) {
    if (same_text(names + copies[i].given, given)) return names + copies[i].instead;
  }
  return given;
}

}  // namespace heddle::runtime
