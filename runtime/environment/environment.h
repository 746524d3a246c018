// SPDX-License-Identifier: Apache-2.0
//
// What the program asks of the world outside it. In a recorded run the world is asked and the
// answer is written down; in the replay of one the recording answers, and the world need not be
// there; in any other run the world is just asked. Plain files count as part of the program (they
// are kept with the run), and so do pipes and events whose both ends are in it.
#pragma once

#include <sys/uio.h>

#include "runtime/session/session.h"

namespace heddle::runtime {

/// Where a system call leaves what it has to tell, besides its result.
struct Outputs {
  const iovec* stream = nullptr;  // filled from the front: `unit` bytes for each of the result
  unsigned parts = 0;
  unsigned unit = 1;
  iovec whole[5] = {};  // taken as they are
};

/// Of a call that is always made: it changes something, and says nothing of the outside.
inline constexpr int kNoQuestion = -1;

/// A system call, as the outside is asked.
struct Question {
  int call = kNoQuestion;  // its number
  Outputs outputs = {};
  bool gives_descriptor = false;
};

/// Whether what this descriptor has to say is recorded, or told from a recording.
bool is_outside(const Session& session, int descriptor);

/// The turn of an operation on something outside, in a run that is told: when there is an answer
/// left for the thread. Otherwise it waits for ever.
void told_arrive(Session& session, Operation operation);

/// The same for an operation that has arrived, in a run that was recorded up to here.
void tell_instead(Operation& operation);

long told_result(Session& session, const Question& question);
void note_result(Session& session, const Question& question, long result);

/// The result of a system call about something outside. `make` makes it.
template <typename Make>
long ask(Session& session, const Question& question, Make make) {
  if (session.told().active()) return told_result(session, question);
  const long result = make();
  if (session.notes_answers()) note_result(session, question, result);
  return result;
}

/// The program uses something that is not recorded: named should its replay differ.
void note_source(Session& session, abi::UnrecordedSource source);

/// In a run that is told: gives `descriptor` the number it had when it was recorded. A negative one
/// stands for something outside that is not opened again; nothing can be asked of its stand-in.
long told_descriptor(Session& session, long descriptor, long wanted);

/// The current thread was told nothing more, and makes a call that does not wait by itself: the log
/// may end earlier than the run did. It waits, as one does that reads.
[[noreturn]] void wait_untold(Session& session, abi::SiteId site);

/// The run cannot go on as it was recorded.
[[noreturn]] void stop_untold(Session& session, const char* why);

}  // namespace heddle::runtime
