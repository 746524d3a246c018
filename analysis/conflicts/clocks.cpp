// SPDX-License-Identifier: Apache-2.0
#include "analysis/conflicts/clocks.h"

#include <algorithm>

#include "abi/locks.h"

namespace heddle::analysis {

using trace::Event;
using trace::EventKind;
using trace::ThreadId;

Clocks::Clocks(const trace::Trace& trace, LockEdges locks)
    : trace_(trace),
      counts_locks_(locks == LockEdges::Counted),
      now_(trace.threads.size(), Clock(trace.threads.size(), 0)),
      waits_at_(trace.threads.size(), Place(trace::kNone, 0)),
      held_(trace.threads.size()) {}

void Clocks::learn(ThreadId thread, const Clock& from) {
  for (std::size_t i = 0; i < from.size(); ++i)
    now_[thread][i] = std::max(now_[thread][i], from[i]);
}

void Clocks::learn(ThreadId thread, const std::map<Place, Clock>& published, Place from) {
  if (const auto known = published.find(from); known != published.end()) {
    learn(thread, known->second);
  }
}

void Clocks::publish(ThreadId thread, std::map<Place, Clock>& published, Place to) {
  Clock& clock = published.try_emplace(to, Clock(now_.size(), 0)).first->second;
  for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], now_[thread][i]);
}

void Clocks::acquire(const Event& event, Place place, bool is_shared) {
  if (event.value != 0) return;
  held_[event.thread].push_back({place, is_shared});
  if (!counts_locks_) return;
  learn(event.thread, released_, place);
  if (!is_shared) learn(event.thread, read_released_, place);
}

void Clocks::release(ThreadId thread, std::vector<Held>::iterator lock) {
  if (counts_locks_) publish(thread, lock->is_shared ? read_released_ : released_, lock->place);
  held_[thread].erase(lock);
}

void Clocks::advance_lock(const Event& event, Place place) {
  std::vector<Held>& held = held_[event.thread];
  switch (abi::locking_of(event.kind)) {
    case abi::Locking::Takes: acquire(event, place, false); return;
    case abi::Locking::Shares: acquire(event, place, true); return;
    case abi::Locking::Releases: {
      const auto newest = std::find_if(held.rbegin(), held.rend(),
                                       [&](const Held& lock) { return lock.place == place; });
      if (newest != held.rend()) release(event.thread, std::next(newest).base());
      return;
    }
    case abi::Locking::Waits:  // lets go of its mutex, which is nearly always the newest
      if (!held.empty()) release(event.thread, std::prev(held.end()));
      return;
    case abi::Locking::None: return;
  }
}

void Clocks::advance(std::size_t index) {
  const Event& event = trace_.events[index];
  const ThreadId thread = event.thread;
  const Place place(event.object, event.offset);
  const bool names_thread = event.value < now_.size();
  now_[thread][thread] = index + 1;
  switch (event.kind) {
    case EventKind::ThreadCreate:
      if (names_thread) learn(static_cast<ThreadId>(event.value), now_[thread]);
      break;
    case EventKind::ThreadJoin:
      if (names_thread) learn(thread, now_[event.value]);
      break;
    case EventKind::ThreadTryjoin:
      if (names_thread && event.aux == 0) learn(thread, now_[event.value]);
      break;
    case EventKind::SemPost:
    case EventKind::FutexWake:
    case EventKind::FutexRequeue:
    case EventKind::OnceEnd: publish(thread, objects_, place); break;
    case EventKind::SemWait:
    case EventKind::SemTrywait:
    case EventKind::FutexResume:
    case EventKind::OnceBegin:
      if (event.value == 0) learn(thread, objects_, place);
      break;
    case EventKind::BarrierWait:
      publish(thread, objects_, place);
      if (event.value == 1) learn(thread, objects_, place);
      break;
    case EventKind::BarrierLeave: learn(thread, objects_, place); break;
    case EventKind::CondWait: waits_at_[thread] = place; break;
    case EventKind::CondSignal:
      if (event.aux > 0 && event.aux <= now_.size()) {
        learn(static_cast<ThreadId>(event.aux - 1), now_[thread]);
      }
      break;
    case EventKind::CondBroadcast:
      for (ThreadId other = 0; other < now_.size(); ++other) {
        if (waits_at_[other] == place) learn(other, now_[thread]);
      }
      break;
    case EventKind::AtomicStore: atomics_[place] = now_[thread]; break;
    case EventKind::AtomicLoad: learn(thread, atomics_, place); break;
    case EventKind::AtomicRmw:
    case EventKind::AtomicCas:
      learn(thread, atomics_, place);
      publish(thread, atomics_, place);
      break;
    default: break;
  }
  if (event.kind != EventKind::CondWait) waits_at_[thread] = Place(trace::kNone, 0);
  advance_lock(event, place);
}

}  // namespace heddle::analysis
