// SPDX-License-Identifier: Apache-2.0
//
// The one place that decides whether a call is the program's or the runtime's own. While the gate
// is closed (the runtime is at work, or no run has begun), every entry point does what libc would.
//
// Each thread has its own gate. A thread that has not been in the program yet (libc prepares it) is
// inside; before the execution begins nobody is.
#pragma once

#include "runtime/session/session.h"

namespace heddle::runtime {

class Gate {
 public:
  /// Enters the runtime if the call comes from a controlled program.
  Gate() : entered_(state_ == State::Open && session().running()) {
    if (entered_) state_ = State::Closed;
  }
  ~Gate() {
    if (!entered_) return;
    open();
    if (attention_) [[unlikely]]
      attend();
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  explicit operator bool() const { return entered_; }

  /// The caller is the program's first thread.
  static void begin() {
    begun_ = true;
    state_ = State::Open;
  }
  /// True while the runtime itself is at work.
  static bool closed() { return state_ == State::Closed || (state_ == State::NotYetIn && begun_); }
  /// Around calls from the runtime into the program.
  static void open() {
    if (keeps_turn_) [[unlikely]]
      session().leave();
    state_ = State::Open;
  }
  static void close() { state_ = State::Closed; }

  /// What the thread does until it leaves belongs to its turn: Session::leave() is to be called.
  static void keep_turn(bool keeps) { keeps_turn_ = keeps; }
  static bool keeps_turn() { return keeps_turn_; }

  /// Something waits to be done for a thread when it is back in the program: a signal to handle, a
  /// cancellation to act upon, its signal mask to be set. Asks every thread, as it leaves.
  static void call_attention() { attention_ = true; }
  /// From now on each thread that another has given way to is to be attended to.
  static void attend_switches() { attends_switches_ = true; }
  static void note_switch() {
    if (attends_switches_) attention_ = true;
  }
  /// What leaving does when attention was called. The gate is open.
  static void attend();

 private:
  enum class State : std::uint8_t { NotYetIn, Open, Closed };

  bool entered_;
  static inline constinit bool attention_ = false;
  static inline constinit bool attends_switches_ = false;
  static inline constinit bool begun_ = false;
  // Part of the storage that every thread has from the start: found without a call.
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local State state_ =
      State::NotYetIn;
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local bool keeps_turn_ = false;
};

}  // namespace heddle::runtime
