// SPDX-License-Identifier: Apache-2.0
//
// The part of Session in which a debugger may take another choice than the schedule.
#include "runtime/entry/gate.h"
#include "runtime/session/debugger.h"
#include "runtime/session/session.h"

namespace heddle::runtime {

void Session::look_for_debugger() {
  while (debugger_wants(recorder_.event_count())) [[unlikely]] {
    const abi::ThreadIndex from = current_;
    enabled_.for_each([this](abi::ThreadIndex thread) {
      __heddle_debug_choices[thread] =
          threads_[thread].is_flusher() ? memory_->flush_choices(threads_[thread].flushes_for) : 0;
    });
    const abi::ThreadIndex other = debugger_stop(enabled_);
    if (other >= threads_.size() || other == from || !enabled_.contains(other)) return;
    stop_following();
    current_ = other;
    if (threads_[other].is_flusher()) {
      flush_chosen();
      current_ = from;
    } else {
      Gate::note_switch();
      carrier_->switch_to(from, other);
    }
  }
}

/// From here on as if nobody had planned anything.
void Session::stop_following() {
  strategy_ = find_strategy("sequential");
  strategy_->begin_run(recorder_.channel().options, {}, &find_thread);
}

}  // namespace heddle::runtime
