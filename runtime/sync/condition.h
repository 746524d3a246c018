// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <ctime>

#include "runtime/session/session.h"

namespace heddle::runtime {

// A wait is two events: cond_wait (lets the mutex go and begins to wait) and, after the wake-up,
// mutex_lock. A wait with a time limit has a third between them, cond_wake: whether the time-out
// comes before the signal is the strategy's decision, no clock is asked. So has every wait while
// the option spurious_wakeups allows it to end for no reason.
int condition_wait(Session& session, pthread_cond_t* condition, pthread_mutex_t* mutex,
                   const timespec* deadline, abi::SiteId site);
/// Which of several waiting threads is woken is the strategy's decision.
int condition_signal(Session& session, pthread_cond_t* condition, abi::SiteId site);
int condition_broadcast(Session& session, pthread_cond_t* condition, abi::SiteId site);
int condition_destroy(Session& session, pthread_cond_t* condition, abi::SiteId site);

}  // namespace heddle::runtime
