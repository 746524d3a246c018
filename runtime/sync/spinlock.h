// SPDX-License-Identifier: Apache-2.0
//
// Spin locks. A thread that spins is one that waits: nothing is gained by letting it run.
#pragma once

#include <pthread.h>

#include "runtime/session/session.h"

namespace heddle::runtime {

int spinlock_lock(Session& session, pthread_spinlock_t* lock, abi::SiteId site);
int spinlock_trylock(Session& session, pthread_spinlock_t* lock, abi::SiteId site);
int spinlock_unlock(Session& session, pthread_spinlock_t* lock, abi::SiteId site);

}  // namespace heddle::runtime
