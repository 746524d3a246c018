// SPDX-License-Identifier: Apache-2.0
//
// Timers that send signals (timer_create, setitimer, alarm), in virtual time: one goes off when the
// clock passes its time, and where nobody can go on without it, the clock jumps there. A run that
// seems not to end (schedule/fair_turns.h) is given the time too. What a timer would do by killing
// the program is not what a deadlock waits for: such a watchdog goes off only if time passes
// anyway.
#pragma once

#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include "runtime/session/session.h"

namespace heddle::runtime {

// Results as the kernel's: a negative errno for failure. Timers are numbered from 1.
long signal_timer_create(Session& session, clockid_t clock, const sigevent* event);
long signal_timer_set(Session& session, long timer, bool absolute, const itimerspec& change,
                      itimerspec* before);
long signal_timer_get(Session& session, long timer, itimerspec& out);
long signal_timer_delete(long timer);
long signal_timer_overrun(long timer);
/// Of setitimer: ITIMER_REAL and so on. There from the start.
long interval_timer(int which);

/// Lets go off what is due now.
void signal_timers_fire(Session& session);
/// When the next is due that somebody may wait for; -1 when none is set.
std::int64_t signal_timers_next();
/// Nobody can go on: lets the next one go off. False if there is none, or it does not help.
bool signal_timers_jump(Session& session);

}  // namespace heddle::runtime
