// SPDX-License-Identifier: Apache-2.0
//
// The one place that decides whether a call is the program's or the runtime's own. While the gate
// is closed (the runtime is at work, or no run has begun), every entry point does what libc would.
//
// Exactly one thread runs at a time and a thread is suspended only inside a closed gate, so one
// flag serves all threads: whoever resumes is inside, and opens it on the way out.
#pragma once

#include "runtime/session/session.h"

namespace heddle::runtime {

class Gate {
 public:
  /// Enters the runtime if the call comes from a controlled program.
  Gate() : entered_(!closed_ && session().running()) {
    if (entered_) closed_ = true;
  }
  ~Gate() {
    if (!entered_) return;
    closed_ = false;
    if (attention_) [[unlikely]]
      attend();
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  explicit operator bool() const { return entered_; }

  /// True while the runtime itself is at work.
  static bool closed() { return closed_; }
  /// Around calls from the runtime into the program.
  static void open() { closed_ = false; }
  static void close() { closed_ = true; }

  /// Something waits to be done for a thread when it is back in the program: a signal to handle, a
  /// cancellation to act upon, its signal mask to be set. Asks every thread, as it leaves.
  static void call_attention() { attention_ = true; }
  /// What leaving does when attention was called. The gate is open.
  static void attend();

 private:
  bool entered_;
  static inline constinit bool attention_ = false;
  static inline constinit bool closed_ = false;
};

}  // namespace heddle::runtime
