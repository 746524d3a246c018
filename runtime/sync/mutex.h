// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include "runtime/session/session.h"

namespace heddle::runtime {

// State is kept in the pthread_mutex_t itself, in glibc's fields: static initialisers, destruction
// and reuse of the memory then mean what they mean to glibc.
int mutex_lock(Session& session, pthread_mutex_t* mutex, abi::SiteId site);
int mutex_trylock(Session& session, pthread_mutex_t* mutex, abi::SiteId site);
int mutex_unlock(Session& session, pthread_mutex_t* mutex, abi::SiteId site);
int mutex_destroy(Session& session, pthread_mutex_t* mutex, abi::SiteId site);

/// For condition variables: the parts of lock and unlock that are no event of their own.
unsigned release_for_wait(Session& session, pthread_mutex_t* mutex);
bool mutex_is_free(const pthread_mutex_t* mutex);
void acquire_after_wait(Session& session, pthread_mutex_t* mutex, unsigned depth, abi::SiteId site);
abi::ThreadIndex mutex_holder(const pthread_mutex_t* mutex, abi::SiteId& taken_at);

}  // namespace heddle::runtime
