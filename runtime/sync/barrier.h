// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include "runtime/session/session.h"

namespace heddle::runtime {

// pthread_barrier_init stays libc's: the count is read from where it puts it.
int barrier_wait(Session& session, pthread_barrier_t* barrier, abi::SiteId site);
/// Waits, as libc does, for threads that have been let go and are still on their way out.
int barrier_destroy(Session& session, pthread_barrier_t* barrier, abi::SiteId site);

}  // namespace heddle::runtime
