// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/once.h"

#include "runtime/base/vector.h"
#include "runtime/entry/gate.h"

/// Calls `routine`; heddle_once_personality below is told when the stack is unwound through it.
extern "C" void heddle_once_routine(void (*routine)());

namespace heddle::runtime {
namespace {

// As glibc has it: bit 0 while the routine runs, bit 1 once it has run. Above it, where glibc keeps
// a count of forks, who runs it.
constexpr int kRunning = 1;
constexpr int kDone = 2;
constexpr int kOwnerShift = 2;

struct Call {
  pthread_once_t* control;
  abi::SiteId site;
  abi::ThreadIndex thread;
};

/// Routines that are being run now, the innermost of each thread last.
constinit Vector<Call> calls;

int control_of(const Operation& operation) {
  return *reinterpret_cast<const pthread_once_t*>(operation.address);
}

bool begin_ready(const Operation& operation) {
  return (control_of(operation) & kRunning) == 0;
}

abi::ThreadIndex begin_holder(const Operation& operation, abi::SiteId& taken_at) {
  for (const Call& call : calls) {
    if (reinterpret_cast<std::uint64_t>(call.control) != operation.address) continue;
    taken_at = call.site;
    return call.thread;
  }
  return abi::kNoThread;
}

constexpr Blocking kBeginning{&begin_ready, &begin_holder};

/// The current thread's innermost routine is over: it returned, or the stack is being unwound
/// through it, and then it counts as not having been run.
void end_call(Session& session, bool returned) {
  std::size_t last = calls.size() - 1;
  while (calls[last].thread != session.current_index()) --last;
  const Call call = calls[last];
  calls.erase(last);
  const Operation operation = operation_on(call.control, abi::EventKind::OnceEnd, call.site);
  session.arrive(operation);
  *call.control = returned ? kDone : 0;
  session.record(operation, 0, returned ? 0 : 1);
  session.refresh(operation.address);
}

}  // namespace

int once_call(Session& session, pthread_once_t* control, void (*routine)(), abi::SiteId site) {
  const Operation operation = operation_on(control, abi::EventKind::OnceBegin, site, &kBeginning);
  session.arrive(operation);
  const bool runs = (*control & kDone) == 0;
  if (runs) {
    *control = kRunning | static_cast<int>(session.current_index()) << kOwnerShift;
    calls.push_back({control, site, session.current_index()});
  }
  session.record(operation, 0, runs);
  if (!runs) return 0;
  session.refresh(operation.address);
  Gate::open();
  heddle_once_routine(routine);
  Gate::close();
  end_call(session, true);
  return 0;
}

}  // namespace heddle::runtime

// An exception, a cancellation or pthread_exit leaves the routine. The runtime is built without
// exceptions, so it has no landing pad to clean up in; but a personality routine is called for its
// frame on the way, and that is enough.
extern "C" int heddle_once_personality(int, int actions, std::uint64_t, void*, void*) {
  using namespace heddle::runtime;
  constexpr int kCleanupPhase = 2;
  constexpr int kContinueUnwind = 8;
  if ((actions & kCleanupPhase) != 0 && session().running()) {
    Gate::close();
    end_call(session(), false);
    Gate::open();
  }
  return kContinueUnwind;
}
