// SPDX-License-Identifier: Apache-2.0
//
// POSIX semaphores, in glibc's own representation: sem_init and sem_open stay libc's.
#pragma once

#include <semaphore.h>

#include <ctime>

#include "runtime/session/session.h"

namespace heddle::runtime {

// Each returns 0 or an errno. Without a deadline a wait lasts until somebody posts; with one,
// whether it comes first is the strategy's decision.
int semaphore_wait(Session& session, sem_t* semaphore, const timespec* deadline, abi::SiteId site);
int semaphore_trywait(Session& session, sem_t* semaphore, abi::SiteId site);
int semaphore_post(Session& session, sem_t* semaphore, abi::SiteId site);
int semaphore_destroy(Session& session, sem_t* semaphore, abi::SiteId site);
int semaphore_value(const sem_t* semaphore);

}  // namespace heddle::runtime
