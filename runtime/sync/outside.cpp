// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/outside.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>

#include "runtime/sync/cancellation.h"
#include "runtime/sync/signal_timer.h"
#include "runtime/sync/signals.h"
#include "runtime/sync/timer.h"

namespace heddle::runtime {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
/// How often what has no descriptor is looked for.
constexpr int kLookMilliseconds = 1;
/// How long something outside is waited for before a timer goes off.
constexpr int kTimerMilliseconds = 1;
/// Real time spent at once on behalf of a virtual duration.
constexpr std::int64_t kLongestPause = 100 * kMillisecond;

OutsideEvent& event_of(const Operation& operation) {
  return *reinterpret_cast<OutsideEvent*>(operation.detail);
}

bool outside_ready(const Operation& operation) {
  using Answer = OutsideEvent::Answer;
  const OutsideEvent& event = event_of(operation);
  const bool happened =
      event.answer == Answer::None ? event.happened(event) : event.answer == Answer::Yes;
  return happened || cancellation_due(operation.thread) || signal_due(operation.thread);
}

abi::ThreadIndex nobody(const Operation&, abi::SiteId&) {
  return abi::kNoThread;
}

constexpr Blocking kOutside{&outside_ready, &nobody};

bool waits_outside(const Thread& thread) {
  return !thread.finished && thread.pending.blocking == &kOutside;
}

bool waits_for_processes(const Thread& thread) {
  return !thread.finished && reach_of(thread.pending) == Reach::Noticed;
}

constexpr int kMarkedDescriptors = 4096;
constinit std::uint64_t internal_marks[kMarkedDescriptors / 64] = {};

/// Children have copies of the descriptors.
bool has_children() {
  siginfo_t info{};
  return raw_syscall(SYS_waitid, P_ALL, 0, reinterpret_cast<long>(&info),
                     WEXITED | WNOHANG | WNOWAIT, 0) != -ECHILD;
}

constinit bool may_strand_children = false;
constinit int looks_in_vain = 0;
/// One a millisecond: some time before the driver would call it a hang.
constexpr int kMostLooks = 2000;

void give_up_if_stranded(Session& session) {
  looks_in_vain = session.any_can_go_on() ? 0 : looks_in_vain + 1;
  if (!may_strand_children || looks_in_vain < kMostLooks) return;
  session.unsupported(
      "shares a condition variable, barrier or read-write lock with a child process, which seems "
      "to wait for it: only mutexes and semaphores of that kind work under control");
}

struct Waited {
  bool any = false;       // somebody waits outside
  bool external = false;  // for something that the program's own threads cannot do
  bool all_have_descriptors = true;
};

constinit Vector<pollfd> collected;

long poll_for(int milliseconds) {
  return raw_syscall(SYS_poll, reinterpret_cast<long>(collected.begin()),
                     static_cast<long>(collected.size()), milliseconds);
}

void collect(const OutsideEvent& event, Waited& waited) {
  waited.any = true;
  if (event.count == 0) waited.all_have_descriptors = false;
  if (event.count == 0) waited.external = true;
  for (unsigned i = 0; i < event.count; ++i) {
    collected.push_back(event.descriptors[i]);
    if (!outside_is_internal(event.descriptors[i].fd)) waited.external = true;
  }
}

/// What all threads wait for outside; the descriptors are in `collected`.
Waited collect_all(Session& session) {
  collected.clear();
  Waited waited;
  bool waits_for_children = false;
  for (std::uint32_t i = 0; i < session.thread_count(); ++i) {
    const Thread& thread = session.thread(static_cast<abi::ThreadIndex>(i));
    if (waits_outside(thread)) collect(event_of(thread.pending), waited);
    if (waits_for_processes(thread)) waits_for_children = true;
  }
  if (waits_for_children && has_children()) {
    waited.any = waited.external = true;
    waited.all_have_descriptors = false;
  }
  if (waited.any && !waited.external) waited.external = has_children();
  return waited;
}

/// Asks the kernel once for all who wait for descriptors, and leaves the answer with each event.
/// Not worth it for one of them.
void answer_all(Session& session) {
  using Answer = OutsideEvent::Answer;
  const auto for_each_event = [&session](auto visit) {
    for (std::uint32_t i = 0; i < session.thread_count(); ++i) {
      const Thread& thread = session.thread(static_cast<abi::ThreadIndex>(i));
      if (waits_outside(thread) && event_of(thread.pending).count > 0) {
        visit(event_of(thread.pending));
      }
    }
  };
  unsigned events = 0;
  collected.clear();
  for_each_event([&events](const OutsideEvent& event) {
    ++events;
    for (unsigned i = 0; i < event.count; ++i) collected.push_back(event.descriptors[i]);
  });
  if (events < 2 || poll_for(0) < 0) return;
  const pollfd* shown = collected.begin();
  for_each_event([&shown](OutsideEvent& event) {
    event.answer = Answer::No;
    for (unsigned i = 0; i < event.count; ++i) {
      if ((shown++)->revents != 0) event.answer = Answer::Yes;
    }
  });
}

bool all_pass_time(Session& session) {
  for (std::uint32_t i = 0; i < session.thread_count(); ++i) {
    const auto index = static_cast<abi::ThreadIndex>(i);
    if (index == session.current_index() || !session.can_go_on(index)) continue;
    if (!passes_time(session.thread(index).pending)) return false;
  }
  return true;
}

bool wait_outside(Session& session) {
  const Waited waited = collect_all(session);
  if (!waited.any) return signal_timers_jump(session);
  const std::int64_t timer = timers_next();
  if (timer < 0) {
    // A child may have done its part and ended since anybody looked.
    outside_refresh(session);
    if (session.any_can_go_on()) return true;
    if (!waited.external) return false;  // they wait for each other
    poll_for(waited.all_have_descriptors ? -1 : kLookMilliseconds);
    outside_refresh(session);
    give_up_if_stranded(session);
    return true;
  }
  // Nobody can go on before a timer goes off, unless something comes from outside: that has its
  // chance first, in real time, and then virtual time jumps.
  if (waited.external) poll_for(kTimerMilliseconds);
  outside_refresh(session);
  if (session.any_can_go_on()) return true;
  session.clock().advance_to(timer);
  timers_fire(session);
  outside_refresh(session);
  return true;
}

}  // namespace

bool outside_arrive(Session& session, Operation operation, OutsideEvent& event) {
  session.set_outside_wait(&wait_outside);
  operation.blocking = &kOutside;
  operation.detail = reinterpret_cast<std::uint64_t>(&event);
  session.arrive(operation);
  session.current().pending.blocking = nullptr;  // from now on nobody is to look for the event
  cancellation_act(session, operation.site);
  return !signal_due(session.current_index()) || event.happened(event);
}

const OutsideEvent* outside_event_of(const Operation& operation) {
  const bool waits = operation.blocking == &kOutside || operation.awaited == &kOutside;
  return waits ? &event_of(operation) : nullptr;
}

void outside_watch(Session& session) {
  session.set_outside_wait(&wait_outside);
}

void outside_note_use(bool shared) {
  if (shared && !may_strand_children) may_strand_children = has_children();
}

int outside_arrive_within(Session& session, Operation operation, OutsideEvent& event,
                          std::int64_t nanoseconds) {
  operation.detail = reinterpret_cast<std::uint64_t>(&event);
  limit(operation, kOutside, session.clock().now() + nanoseconds);
  session.arrive(operation);
  cancellation_act(session, operation.site);
  if (event.happened(event)) return 0;
  return signal_due(session.current_index()) ? -EINTR : -EAGAIN;
}

void outside_refresh(Session& session) {
  if (session.one_at_a_time()) answer_all(session);
  for (std::uint32_t i = 0; i < session.thread_count(); ++i) {
    const Thread& thread = session.thread(static_cast<abi::ThreadIndex>(i));
    if (waits_outside(thread) || waits_for_processes(thread)) session.refresh_thread(thread.index);
    if (waits_outside(thread)) event_of(thread.pending).answer = OutsideEvent::Answer::None;
  }
}

void outside_pause(Session& session, std::int64_t nanoseconds, const OutsideEvent* own) {
  if (!all_pass_time(session)) return;
  Waited waited = collect_all(session);
  if (own != nullptr) collect(*own, waited);
  if (!waited.any || (!waited.external && !has_children())) return;
  const std::int64_t real = nanoseconds < kLongestPause ? nanoseconds : kLongestPause;
  poll_for(static_cast<int>((real + kMillisecond - 1) / kMillisecond));
  outside_refresh(session);
}

void outside_mark_internal(int descriptor, bool internal) {
  if (descriptor < 0 || descriptor >= kMarkedDescriptors) return;
  const std::uint64_t bit = std::uint64_t{1} << (descriptor % 64);
  std::uint64_t& word = internal_marks[descriptor / 64];
  if (internal) {
    __atomic_fetch_or(&word, bit, __ATOMIC_RELAXED);  // of a recorded run's threads several at once
  } else {
    __atomic_fetch_and(&word, ~bit, __ATOMIC_RELAXED);
  }
}

bool outside_is_plain(unsigned mode) {
  return S_ISREG(mode) || S_ISDIR(mode) || S_ISBLK(mode);
}

bool outside_can_wait(int descriptor) {
  struct stat status{};
  if (raw_syscall(SYS_fstat, descriptor, reinterpret_cast<long>(&status)) != 0) return false;
  return !outside_is_plain(status.st_mode);
}

bool outside_is_internal(int descriptor) {
  if (descriptor < 0 || descriptor >= kMarkedDescriptors) return false;
  const std::uint64_t word = __atomic_load_n(&internal_marks[descriptor / 64], __ATOMIC_RELAXED);
  return (word >> (descriptor % 64) & 1) != 0;
}

}  // namespace heddle::runtime
