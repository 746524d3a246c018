// SPDX-License-Identifier: Apache-2.0
//
// Small traces made by hand, one per kind of story a trace tells; their programs are in sources/.
// Tests of the formats, the store and the reports share them.
#pragma once

#include "trace/schedule.h"
#include "trace/trace.h"

namespace heddle::sample {

/// counter.c: two threads read the same value, one increment is lost, main's assertion fails.
trace::Trace lost_update();
/// lost_update with steps.
trace::Trace loop();
/// lost_update with stacks.
trace::Trace with_stacks();
trace::Schedule lost_update_schedule();
/// bank.c: two locks taken in opposite orders.
trace::Trace deadlock();
/// shared_buffer.cpp: a reader goes on using what the last release deleted.
trace::Trace use_after_free();
/// mailbox.c: the signal comes before the wait.
trace::Trace lost_wakeup();
/// stress.c: eight threads of twenty rounds; exits with 3.
trace::Trace eight_threads();

}  // namespace heddle::sample
