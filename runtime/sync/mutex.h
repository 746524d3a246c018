// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <ctime>

#include "runtime/session/session.h"

namespace heddle::runtime {

// State is kept in the pthread_mutex_t itself, in glibc's fields: static initialisers, destruction
// and reuse of the memory then mean what they mean to glibc.
int mutex_lock(Session& session, pthread_mutex_t* mutex, abi::SiteId site);
/// Whether the deadline comes before the mutex is free is the strategy's decision.
int mutex_timedlock(Session& session, pthread_mutex_t* mutex, const timespec& deadline,
                    abi::SiteId site);
int mutex_trylock(Session& session, pthread_mutex_t* mutex, abi::SiteId site);
int mutex_unlock(Session& session, pthread_mutex_t* mutex, abi::SiteId site);
int mutex_destroy(Session& session, pthread_mutex_t* mutex, abi::SiteId site);
int mutex_consistent(Session& session, pthread_mutex_t* mutex, abi::SiteId site);
/// The current thread ends: robust mutexes that it holds go to the next one who asks.
void mutex_abandon_all(Session& session);
/// What `thread` holds, it holds as libc would have it. For the child of a fork, which goes on
/// without control.
void mutex_hand_to_libc(pthread_mutex_t* mutex, abi::ThreadIndex thread);

/// For condition variables: the parts of lock and unlock that are no event of their own.
bool mutex_can_wait(const pthread_mutex_t* mutex, abi::ThreadIndex thread);
unsigned release_for_wait(Session& session, pthread_mutex_t* mutex);
bool mutex_is_free(const pthread_mutex_t* mutex);
/// 0, EOWNERDEAD or ENOTRECOVERABLE.
int acquire_after_wait(Session& session, pthread_mutex_t* mutex, unsigned depth, abi::SiteId site);
abi::ThreadIndex mutex_holder(const pthread_mutex_t* mutex, abi::SiteId& taken_at);

}  // namespace heddle::runtime
