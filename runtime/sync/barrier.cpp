// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/barrier.h"

#include "runtime/sync/outside.h"
#include "runtime/sync/wait_list.h"

namespace heddle::runtime {
namespace {

/// As glibc lays it out; `in` is how many have come in this round.
struct Barrier {
  unsigned in;
  unsigned round;
  unsigned count;
  int shared;
};

constinit WaitList waiting;
constinit WaitList leaving;

Barrier& barrier_of(pthread_barrier_t* barrier) {
  return *reinterpret_cast<Barrier*>(barrier);
}

bool leave_ready(const Operation& operation) {
  return !waiting.contains(operation.thread);
}

bool destroy_ready(const Operation& operation) {
  return leaving.count(operation.address) == waiting.count(operation.address);
}

abi::ThreadIndex nobody(const Operation&, abi::SiteId&) {
  return abi::kNoThread;
}

Reach reach(const Operation& operation) {
  return reinterpret_cast<const Barrier*>(operation.address)->shared != 0 ? Reach::Unseen
                                                                          : Reach::Process;
}

constexpr Blocking kLeaving{&leave_ready, &nobody, &reach};
constexpr Blocking kDestroying{&destroy_ready, &nobody};

}  // namespace

int barrier_wait(Session& session, pthread_barrier_t* barrier, abi::SiteId site) {
  const Operation operation = operation_on(barrier, abi::EventKind::BarrierWait, site);
  session.arrive(operation);
  Barrier& state = barrier_of(barrier);
  outside_note_use(state.shared != 0);
  if (++state.in >= state.count) {
    state.in = 0;
    ++state.round;
    waiting.wake(session, operation.address, abi::kMaxThreads);
    session.record(operation, 0, 1);
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  const abi::ThreadIndex thread = session.current_index();
  waiting.add(operation.address, thread);
  leaving.add(operation.address, thread);
  session.record(operation);
  const Operation end = operation_on(barrier, abi::EventKind::BarrierLeave, site, &kLeaving);
  session.arrive(end);
  leaving.remove(thread);
  session.record(end);
  session.refresh(end.address);
  return 0;
}

int barrier_destroy(Session& session, pthread_barrier_t* barrier, abi::SiteId site) {
  const Operation operation =
      operation_on(barrier, abi::EventKind::BarrierDestroy, site, &kDestroying);
  session.arrive(operation);
  session.record(operation);
  return 0;
}

}  // namespace heddle::runtime
