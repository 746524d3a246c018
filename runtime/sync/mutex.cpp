// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/mutex.h"

#include <cerrno>

#include "runtime/base/vector.h"

namespace heddle::runtime {
namespace {

using Data = decltype(pthread_mutex_t::__data);

constexpr int kDestroyed = -1;  // what glibc's pthread_mutex_destroy leaves in __kind
constexpr int kRobust = 16;     // glibc's PTHREAD_MUTEX_ROBUST_NORMAL_NP

// __lock
constexpr int kFree = 0;
constexpr int kTaken = 1;
constexpr int kTakenInconsistent = 2;  // robust: from a thread that ended with it
// __owner of a free robust mutex
constexpr int kOwnerEnded = 0x7ffffffd;
constexpr int kNotRecoverable = 0x7ffffffe;  // as glibc's

struct Held {
  pthread_mutex_t* mutex;
  abi::ThreadIndex thread;
};

/// Robust mutexes that are taken now: if their thread ends, the next one is told.
constinit Vector<Held> robust_held;

Data& data_of(const Operation& operation) {
  return reinterpret_cast<pthread_mutex_t*>(operation.address)->__data;
}

/// The adaptive kind only spins differently.
int type_of(const Data& data) {
  const int type = data.__kind & 3;
  return type == PTHREAD_MUTEX_ADAPTIVE_NP ? static_cast<int>(PTHREAD_MUTEX_NORMAL) : type;
}

bool is_robust(const Data& data) {
  return (data.__kind & kRobust) != 0;
}

int owner_mark(abi::ThreadIndex thread) {
  return thread + 1;
}

bool owned_by(const Data& data, abi::ThreadIndex thread) {
  return data.__lock != kFree && data.__owner == owner_mark(thread);
}

/// __nusers is glibc's own count of users; we keep there where the mutex was taken. Returns 0 or
/// EOWNERDEAD: taken too.
int take(pthread_mutex_t* mutex, abi::ThreadIndex thread, unsigned depth, abi::SiteId site) {
  Data& data = mutex->__data;
  const bool inherited = is_robust(data) && data.__owner == kOwnerEnded;
  data.__lock = inherited ? kTakenInconsistent : kTaken;
  data.__owner = owner_mark(thread);
  data.__count = depth;
  data.__nusers = site;
  if (is_robust(data)) robust_held.push_back({mutex, thread});
  return inherited ? EOWNERDEAD : 0;
}

void release(pthread_mutex_t* mutex) {
  Data& data = mutex->__data;
  const bool lost = data.__lock == kTakenInconsistent;
  data.__lock = kFree;
  data.__owner = lost ? kNotRecoverable : 0;
  data.__count = 0;
  data.__nusers = 0;
  if (!is_robust(data)) return;
  for (std::size_t i = 0; i < robust_held.size(); ++i) {
    if (robust_held[i].mutex == mutex) return robust_held.erase(i);
  }
}

bool lock_ready(const Operation& operation) {
  const Data& data = data_of(operation);
  if (data.__lock == kFree || data.__kind == kDestroyed) return true;
  // Locking again: succeeds, fails at once, or (the ordinary kind) waits for ever.
  return owned_by(data, operation.thread) && type_of(data) != PTHREAD_MUTEX_NORMAL;
}

abi::ThreadIndex lock_holder(const Operation& operation, abi::SiteId& taken_at) {
  return mutex_holder(reinterpret_cast<pthread_mutex_t*>(operation.address), taken_at);
}

constexpr Blocking kLocking{&lock_ready, &lock_holder};

/// The attempt itself, at the thread's turn. Returns 0, EOWNERDEAD (both: it is taken) or why not.
int attempt(pthread_mutex_t* mutex, abi::ThreadIndex thread, abi::SiteId site) {
  Data& data = mutex->__data;
  if (data.__kind == kDestroyed) return EINVAL;
  if (data.__lock == kFree) {
    if (is_robust(data) && data.__owner == kNotRecoverable) return ENOTRECOVERABLE;
    return take(mutex, thread, 1, site);
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

/// In a trace, taken is taken: that the mutex came from an ended thread is said beside.
void record_attempt(Session& session, const Operation& operation, int result) {
  const bool inherited = result == EOWNERDEAD;
  session.record(operation, 0, inherited ? 0 : static_cast<std::uint64_t>(result),
                 inherited ? EOWNERDEAD : 0);
  session.refresh(operation.address);
}

}  // namespace

int mutex_lock(Session& session, pthread_mutex_t* mutex, abi::SiteId site) {
  const Operation operation = operation_on(mutex, abi::EventKind::MutexLock, site, &kLocking);
  session.arrive(operation);
  const int result = attempt(mutex, session.current_index(), site);
  record_attempt(session, operation, result);
  return result;
}

int mutex_timedlock(Session& session, pthread_mutex_t* mutex, const timespec& deadline,
                    abi::SiteId site) {
  Operation operation = operation_on(mutex, abi::EventKind::MutexLock, site);
  limit(operation, kLocking, VirtualClock::nanoseconds(deadline));
  session.arrive(operation);
  int result = attempt(mutex, session.current_index(), site);
  if (result == EBUSY && (deadline.tv_nsec < 0 || deadline.tv_nsec >= VirtualClock::kSecond)) {
    result = EINVAL;
  } else if (result == EBUSY) {
    result = ETIMEDOUT;
    session.clock().advance_to(VirtualClock::nanoseconds(deadline));
  }
  record_attempt(session, operation, result);
  return result;
}

int mutex_trylock(Session& session, pthread_mutex_t* mutex, abi::SiteId site) {
  const Operation operation = operation_on(mutex, abi::EventKind::MutexTrylock, site);
  session.arrive(operation);
  int result = attempt(mutex, session.current_index(), site);
  if (result == EDEADLK) result = EBUSY;
  record_attempt(session, operation, result);
  return result;
}

int mutex_consistent(Session& session, pthread_mutex_t* mutex, abi::SiteId site) {
  const Operation operation = operation_on(mutex, abi::EventKind::MutexConsistent, site);
  session.arrive(operation);
  Data& data = mutex->__data;
  const bool can = is_robust(data) && data.__lock == kTakenInconsistent;
  if (can) data.__lock = kTaken;
  session.record(operation, 0, can ? 0 : EINVAL);
  return can ? 0 : EINVAL;
}

void mutex_abandon_all(Session& session) {
  for (std::size_t i = robust_held.size(); i-- > 0;) {
    if (robust_held[i].thread != session.current_index()) continue;
    pthread_mutex_t* const mutex = robust_held[i].mutex;
    release(mutex);
    mutex->__data.__owner = kOwnerEnded;
    session.refresh(reinterpret_cast<std::uint64_t>(mutex));
  }
}

int mutex_unlock(Session& session, pthread_mutex_t* mutex, abi::SiteId site) {
  const Operation operation = operation_on(mutex, abi::EventKind::MutexUnlock, site);
  session.arrive(operation);
  Data& data = mutex->__data;
  int result = 0;
  if (data.__kind == kDestroyed) {
    result = EINVAL;
  } else if ((type_of(data) != PTHREAD_MUTEX_NORMAL || is_robust(data)) &&
             !owned_by(data, session.current_index())) {
    result = EPERM;
  } else if (data.__count > 1) {
    --data.__count;
  } else {
    release(mutex);
  }
  session.record(operation, 0, static_cast<std::uint64_t>(result));
  session.refresh(operation.address);
  return result;
}

int mutex_destroy(Session& session, pthread_mutex_t* mutex, abi::SiteId site) {
  const Operation operation = operation_on(mutex, abi::EventKind::MutexDestroy, site);
  session.arrive(operation);
  const int result = mutex->__data.__lock != kFree ? EBUSY : 0;
  session.record(operation, 0, static_cast<std::uint64_t>(result));
  if (result == 0) {
    mutex->__data.__kind = kDestroyed;
    session.refresh(operation.address);
  }
  return result;
}

void mutex_hand_to_libc(pthread_mutex_t* mutex, abi::ThreadIndex thread) {
  Data& data = mutex->__data;
  if (data.__kind == kDestroyed || !owned_by(data, thread)) return;
  data.__owner = static_cast<int>(raw_syscall(SYS_gettid));
  data.__nusers = 1;
  if (type_of(data) != PTHREAD_MUTEX_RECURSIVE) data.__count = 0;
}

bool mutex_can_wait(const pthread_mutex_t* mutex, abi::ThreadIndex thread) {
  const Data& data = mutex->__data;
  const bool checks = type_of(data) != PTHREAD_MUTEX_NORMAL || is_robust(data);
  return !checks || owned_by(data, thread);
}

unsigned release_for_wait(Session& session, pthread_mutex_t* mutex) {
  const unsigned depth = mutex->__data.__count;
  release(mutex);
  session.refresh(reinterpret_cast<std::uint64_t>(mutex));
  return depth;
}

bool mutex_is_free(const pthread_mutex_t* mutex) {
  return mutex->__data.__lock == kFree;
}

int acquire_after_wait(Session& session, pthread_mutex_t* mutex, unsigned depth, abi::SiteId site) {
  const Data& data = mutex->__data;
  if (is_robust(data) && data.__owner == kNotRecoverable) return ENOTRECOVERABLE;
  const int result = take(mutex, session.current_index(), depth, site);
  session.refresh(reinterpret_cast<std::uint64_t>(mutex));
  return result;
}

abi::ThreadIndex mutex_holder(const pthread_mutex_t* mutex, abi::SiteId& taken_at) {
  const Data& data = mutex->__data;
  if (data.__lock == kFree) return abi::kNoThread;
  taken_at = data.__nusers;
  return static_cast<abi::ThreadIndex>(data.__owner - 1);
}

}  // namespace heddle::runtime
