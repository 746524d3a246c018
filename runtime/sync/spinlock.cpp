// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/spinlock.h"

#include <cerrno>

namespace heddle::runtime {
namespace {

/// glibc on x86-64: 1 is free, anything less is taken. Who took it is -(index + 1); 0 says nothing.
constexpr int kFree = 1;

volatile int& word_of(const Operation& operation) {
  return *reinterpret_cast<pthread_spinlock_t*>(operation.address);
}

bool lock_ready(const Operation& operation) {
  return word_of(operation) == kFree;
}

abi::ThreadIndex lock_holder(const Operation& operation, abi::SiteId&) {
  const int word = word_of(operation);
  return word < 0 ? static_cast<abi::ThreadIndex>(-word - 1) : abi::kNoThread;
}

constexpr Blocking kLocking{&lock_ready, &lock_holder};

int take(Session& session, const Operation& operation) {
  session.arrive(operation);
  volatile int& word = word_of(operation);
  const int result = word == kFree ? 0 : EBUSY;
  if (result == 0) word = -(session.current_index() + 1);
  session.record(operation, 0, static_cast<std::uint64_t>(result));
  session.refresh(operation.address);
  return result;
}

const void* address_of(pthread_spinlock_t* lock) {
  return const_cast<const int*>(lock);
}

}  // namespace

int spinlock_lock(Session& session, pthread_spinlock_t* lock, abi::SiteId site) {
  return take(session, operation_on(address_of(lock), abi::EventKind::SpinLock, site, &kLocking));
}

int spinlock_trylock(Session& session, pthread_spinlock_t* lock, abi::SiteId site) {
  return take(session, operation_on(address_of(lock), abi::EventKind::SpinTrylock, site));
}

int spinlock_unlock(Session& session, pthread_spinlock_t* lock, abi::SiteId site) {
  const Operation operation = operation_on(address_of(lock), abi::EventKind::SpinUnlock, site);
  session.arrive(operation);
  *lock = kFree;
  session.record(operation);
  session.refresh(operation.address);
  return 0;
}

}  // namespace heddle::runtime
