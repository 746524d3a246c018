// SPDX-License-Identifier: Apache-2.0
//
// What the program was told from outside while it was recorded, told again: each thread gets the
// answers it got then, in their order. Only reads; whoever asks decides what a missing answer
// means.
#pragma once

#include <sys/uio.h>

#include "abi/recording.h"

namespace heddle::runtime {

/// How far a thread has got, for each kind of answer: one that asks in another order than when it
/// was recorded (time before random numbers, say) still gets what it asks for.
struct ToldCursor {
  bool opened = false;
  const char* next[abi::kToldKinds] = {};
  const char* end = nullptr;
};

class ToldAnswers {
 public:
  void begin_run(const abi::ChannelHeader& channel);
  /// Whether everything from outside comes from a recording.
  bool active() const { return channel_ != nullptr; }
  /// The next answer of that kind, which stays the next; nullptr when there is none left.
  const abi::Answer* peek(std::uint64_t thread, ToldCursor& cursor, abi::AnswerKind kind) const;
  const abi::Answer* take(std::uint64_t thread, ToldCursor& cursor, abi::AnswerKind kind) const;
  /// The process id that the program had; 0 when nothing is told.
  std::int32_t process() const { return active() ? channel_->told_process : 0; }
  /// The kept copy of an input file, or `given` itself.
  const char* copy_of(const char* given) const;

  static const char* bytes_of(const abi::Answer& answer) {
    return reinterpret_cast<const char*>(&answer + 1);
  }

 private:
  template <typename Record>
  const Record* records(const abi::Region& region) const;
  void open(std::uint64_t thread, ToldCursor& cursor) const;

  const abi::ChannelHeader* channel_ = nullptr;
};

}  // namespace heddle::runtime
