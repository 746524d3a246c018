// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/semaphore.h"

#include <cerrno>
#include <climits>

#include "runtime/entry/gate.h"
#include "runtime/sync/cancellation.h"
#include "runtime/sync/signals.h"

namespace heddle::runtime {
namespace {

/// glibc keeps the count in the low half of a 64-bit word, above it how many wait in the kernel,
/// which under control is nobody.
std::uint32_t& count_of(std::uint64_t address) {
  return *reinterpret_cast<std::uint32_t*>(address);
}

bool wait_ready(const Operation& operation) {
  return count_of(operation.address) > 0 || cancellation_due(operation.thread) ||
         signal_due(operation.thread);
}

abi::ThreadIndex nobody(const Operation&, abi::SiteId&) {
  return abi::kNoThread;  // anybody might post
}

constexpr Blocking kWaiting{&wait_ready, &nobody};

int take(std::uint32_t& count, int otherwise) {
  if (count == 0) return otherwise;
  --count;
  return 0;
}

}  // namespace

int semaphore_wait(Session& session, sem_t* semaphore, const timespec* deadline, abi::SiteId site) {
  const bool timed = deadline != nullptr;
  Operation operation =
      operation_on(semaphore, abi::EventKind::SemWait, site, timed ? nullptr : &kWaiting);
  if (timed) limit(operation, kWaiting, VirtualClock::nanoseconds(*deadline));
  const abi::ThreadIndex thread = session.current_index();
  for (;;) {
    session.arrive(operation);
    cancellation_act(session, site);
    std::uint32_t& count = count_of(operation.address);
    const int result = take(count, signal_due(thread) ? EINTR : ETIMEDOUT);
    if (result == ETIMEDOUT) session.clock().advance_to(VirtualClock::nanoseconds(*deadline));
    session.record(operation, 0, static_cast<std::uint64_t>(result), count);
    session.refresh(operation.address);
    if (result != EINTR || !signal_restarts(thread)) return result;
    Gate::open();
    signal_deliver(session);
    Gate::close();
  }
}

int semaphore_trywait(Session& session, sem_t* semaphore, abi::SiteId site) {
  const Operation operation = operation_on(semaphore, abi::EventKind::SemTrywait, site);
  session.arrive(operation);
  std::uint32_t& count = count_of(operation.address);
  const int result = take(count, EAGAIN);
  session.record(operation, 0, static_cast<std::uint64_t>(result), count);
  session.refresh(operation.address);
  return result;
}

int semaphore_post(Session& session, sem_t* semaphore, abi::SiteId site) {
  const Operation operation = operation_on(semaphore, abi::EventKind::SemPost, site);
  session.arrive(operation);
  std::uint32_t& count = count_of(operation.address);
  const int result = count == SEM_VALUE_MAX ? EOVERFLOW : 0;
  if (result == 0) ++count;
  session.record(operation, 0, static_cast<std::uint64_t>(result), count);
  session.refresh(operation.address);
  return result;
}

int semaphore_destroy(Session& session, sem_t* semaphore, abi::SiteId site) {
  const Operation operation = operation_on(semaphore, abi::EventKind::SemDestroy, site);
  session.arrive(operation);
  session.record(operation, 0, 0, count_of(operation.address));
  return 0;
}

int semaphore_value(const sem_t* semaphore) {
  return static_cast<int>(count_of(reinterpret_cast<std::uint64_t>(semaphore)));
}

}  // namespace heddle::runtime
