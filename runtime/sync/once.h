// SPDX-License-Identifier: Apache-2.0
//
// pthread_once and C11's call_once. glibc's waits on an inline futex, which would stop all threads.
#pragma once

#include <pthread.h>

#include "runtime/session/session.h"

namespace heddle::runtime {

/// Runs `routine` unless it has been run, or waits for who is running it. Opens the gate around it.
int once_call(Session& session, pthread_once_t* control, void (*routine)(), abi::SiteId site);

}  // namespace heddle::runtime
