// SPDX-License-Identifier: Apache-2.0
//
// The ways in which a program ends itself. Those that are not caught here (a raw system call,
// quick_exit, exec) end the process, which is then not used again.
#include "runtime/entry/exits.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/base/system.h"
#include "runtime/reset/keeper.h"
#include "runtime/session/session.h"

#define HEDDLE_ENTRY extern "C" __attribute__((visibility("default")))

using namespace heddle::runtime;

extern "C" FILE* _IO_list_all;  // libc's list of open streams

namespace {

constexpr int wait_status(int exit_status) {
  return (exit_status & 0xff) << 8;
}

/// libc flushes streams at exit without locking them. What can be called here locks, and on a
/// stream that a suspended thread holds it would wait for ever.
bool any_stream_is_locked() {
  for (FILE* stream = _IO_list_all; stream != nullptr; stream = stream->_chain) {
    const auto* const lock = static_cast<const int*>(stream->_lock);
    if (lock != nullptr && *lock != 0) return true;
  }
  return false;
}

/// The current thread ends the program.
void note_ending() {
  Session& run = session();
  run.complete_write();
  if (run.running()) run.about_to_exit();
  if (run.running() && run.failure().kind == heddle::abi::FailureKind::None) {
    run.failure().thread = run.current_index();
  }
}

void at_exit(int status, void*) {
  note_ending();
  if (!is_kept() || any_stream_is_locked()) return;
  fflush(nullptr);
  end_kept_execution(wait_status(status));
}

}  // namespace

void heddle::runtime::watch_exit() {
  on_exit(&at_exit, nullptr);
}

HEDDLE_ENTRY void _exit(int status) {
  note_ending();
  end_execution(wait_status(status));
  exit_now(status);
}

HEDDLE_ENTRY void _Exit(int status) noexcept {
  _exit(status);
}
