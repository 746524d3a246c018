// SPDX-License-Identifier: Apache-2.0
//
// The part of Session that takes over threads which another session has run so far.
#include "runtime/session/session.h"

namespace heddle::runtime {

void Session::go_on_from(abi::ThreadIndex from) {
  for (const Thread& thread : threads_) {
    if (thread.finished) continue;
    if (thread.index != 0) carrier_->adopt(thread.index);
    show_pending(thread.index, thread.pending);
    Session::refresh_thread(thread.index);
    // Of the thread that arrives now it is asked below, and of a start never.
    const bool is_asked = thread.index == from || thread.pending.site == abi::kThreadStartSite;
    const PolicyMemory memory;
    if (!is_asked) strategy_->note_pending(thread.hash, thread.pending.site);
  }
  current_ = from;
  running_ = true;
  decide();
  if (current_ == abi::kNoThread) {
    current_ = from;
    if (enabled_.count() == 0) report_stuck();
    stop(abi::FailureKind::Divergence);
  }
  carrier_->enter(current_);
}

}  // namespace heddle::runtime
