// SPDX-License-Identifier: Apache-2.0
//
// timerfd in virtual time. A timer is an eventfd that the runtime writes to when the virtual clock
// passes the timer's time: reading and polling then mean what they mean for a timerfd.
#pragma once

#include <sys/timerfd.h>

#include "runtime/session/session.h"

namespace heddle::runtime {

// Results as the kernel's: a negative errno for failure.
long timer_create(int flags);
long timer_set(Session& session, int descriptor, int flags, const itimerspec& change,
               itimerspec* before);
long timer_get(Session& session, int descriptor, itimerspec& out);
/// The descriptor was closed.
void timer_forget(int descriptor);

/// Lets go off what is due now.
void timers_fire(Session& session);
/// When the next timer is due; -1 when none is set.
std::int64_t timers_next();

}  // namespace heddle::runtime
