// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/mutex.h"

#include <cerrno>

namespace heddle::runtime {
namespace {

using Data = decltype(pthread_mutex_t::__data);

constexpr int kDestroyed = -1;  // what glibc's pthread_mutex_destroy leaves in __kind

Data& data_of(const Operation& operation) {
  return reinterpret_cast<pthread_mutex_t*>(operation.address)->__data;
}

int type_of(const Data& data) {
  return data.__kind & 3;
}

int owner_mark(abi::ThreadIndex thread) {
  return thread + 1;
}

bool owned_by(const Data& data, abi::ThreadIndex thread) {
  return data.__lock != 0 && data.__owner == owner_mark(thread);
}

/// __nusers is glibc's own count of users; we keep there where the mutex was taken.
void take(Data& data, abi::ThreadIndex thread, unsigned depth, abi::SiteId site) {
  data.__lock = 1;
  data.__owner = owner_mark(thread);
  data.__count = depth;
  data.__nusers = site;
}

void release(Data& data) {
  data.__lock = 0;
  data.__owner = 0;
  data.__count = 0;
  data.__nusers = 0;
}

bool lock_ready(const Operation& operation) {
  const Data& data = data_of(operation);
  if (data.__lock == 0 || data.__kind == kDestroyed) return true;
  // Locking again: succeeds, fails at once, or (the ordinary kind) waits for ever.
  return owned_by(data, operation.thread) && type_of(data) != PTHREAD_MUTEX_NORMAL;
}

abi::ThreadIndex lock_holder(const Operation& operation, abi::SiteId& taken_at) {
  return mutex_holder(reinterpret_cast<pthread_mutex_t*>(operation.address), taken_at);
}

constexpr Blocking kLocking{&lock_ready, &lock_holder};

/// The attempt itself, at the thread's turn, when nothing holds it up.
int attempt(Data& data, abi::ThreadIndex thread, abi::SiteId site) {
  if (data.__kind == kDestroyed) return EINVAL;
  if (data.__lock == 0) {
    take(data, thread, 1, site);
    return 0;
  }
  if (owned_by(data, thread)) {
    if (type_of(data) == PTHREAD_MUTEX_RECURSIVE) {
      ++data.__count;
      return 0;
    }
    if (type_of(data) == PTHREAD_MUTEX_ERRORCHECK) return EDEADLK;
  }
  return EBUSY;
}

}  // namespace

int mutex_lock(Session& session, pthread_mutex_t* mutex, abi::SiteId site) {
  const Operation operation = operation_on(mutex, abi::EventKind::MutexLock, site, &kLocking);
  session.arrive(operation);
  const int result = attempt(mutex->__data, session.current_index(), site);
  session.record(operation, 0, static_cast<std::uint64_t>(result));
  session.refresh(operation.address);
  return result;
}

int mutex_trylock(Session& session, pthread_mutex_t* mutex, abi::SiteId site) {
  const Operation operation = operation_on(mutex, abi::EventKind::MutexTrylock, site);
  session.arrive(operation);
  int result = attempt(mutex->__data, session.current_index(), site);
  if (result == EDEADLK) result = EBUSY;
  session.record(operation, 0, static_cast<std::uint64_t>(result));
  session.refresh(operation.address);
  return result;
}

int mutex_unlock(Session& session, pthread_mutex_t* mutex, abi::SiteId site) {
  const Operation operation = operation_on(mutex, abi::EventKind::MutexUnlock, site);
  session.arrive(operation);
  Data& data = mutex->__data;
  int result = 0;
  if (data.__kind == kDestroyed) {
    result = EINVAL;
  } else if (type_of(data) != PTHREAD_MUTEX_NORMAL && !owned_by(data, session.current_index())) {
    result = EPERM;
  } else if (data.__count > 1) {
    --data.__count;
  } else {
    release(data);
  }
  session.record(operation, 0, static_cast<std::uint64_t>(result));
  session.refresh(operation.address);
  return result;
}

int mutex_destroy(Session& session, pthread_mutex_t* mutex, abi::SiteId site) {
  const Operation operation = operation_on(mutex, abi::EventKind::MutexDestroy, site);
  session.arrive(operation);
  const int result = mutex->__data.__lock != 0 ? EBUSY : 0;
  session.record(operation, 0, static_cast<std::uint64_t>(result));
  if (result == 0) {
    mutex->__data.__kind = kDestroyed;
    session.refresh(operation.address);
  }
  return result;
}

unsigned release_for_wait(Session& session, pthread_mutex_t* mutex) {
  const unsigned depth = mutex->__data.__count;
  release(mutex->__data);
  session.refresh(reinterpret_cast<std::uint64_t>(mutex));
  return depth;
}

bool mutex_is_free(const pthread_mutex_t* mutex) {
  return mutex->__data.__lock == 0;
}

void acquire_after_wait(Session& session, pthread_mutex_t* mutex, unsigned depth,
                        abi::SiteId site) {
  take(mutex->__data, session.current_index(), depth, site);
  session.refresh(reinterpret_cast<std::uint64_t>(mutex));
}

abi::ThreadIndex mutex_holder(const pthread_mutex_t* mutex, abi::SiteId& taken_at) {
  const Data& data = mutex->__data;
  if (data.__lock == 0) return abi::kNoThread;
  taken_at = data.__nusers;
  return static_cast<abi::ThreadIndex>(data.__owner - 1);
}

}  // namespace heddle::runtime
