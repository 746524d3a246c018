// SPDX-License-Identifier: Apache-2.0
//
// Read-write locks. The state is in glibc's fields (static initialisers and pthread_rwlock_init
// mean what they mean to glibc); who holds a lock for reading is kept beside it, for the report of
// a deadlock.
#pragma once

#include <pthread.h>

#include <ctime>

#include "runtime/session/session.h"

namespace heddle::runtime {

enum class RwlockMode { Read, Write };

// Each returns 0 or an errno. `deadline` may be null.
int rwlock_lock(Session& session, pthread_rwlock_t* lock, RwlockMode mode, const timespec* deadline,
                abi::SiteId site);
int rwlock_trylock(Session& session, pthread_rwlock_t* lock, RwlockMode mode, abi::SiteId site);
int rwlock_unlock(Session& session, pthread_rwlock_t* lock, abi::SiteId site);
int rwlock_destroy(Session& session, pthread_rwlock_t* lock, abi::SiteId site);

}  // namespace heddle::runtime
